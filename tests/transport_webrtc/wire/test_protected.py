"""Copies, retransmissions and transport-wide facts on the wire, between a real listener and a far end that asks."""

import asyncio
import itertools
from typing import Any

import pytest

from adaptive.codec.redundancy import unpack
from adaptive.codec.toc import describe
from adaptive.control.plan import Carrier, Protection
from adaptive.control.reports import Source
from quality.lab import Fate
from transport_webrtc.bench.far_end import RED, number_of

OPUS = 96


def sequence_of(packet: bytes) -> int:
    return packet[2] << 8 | packet[3]


def payload_of(packet: bytes) -> bytes:
    return packet[16 + 4 * int.from_bytes(packet[14:16], "big") :]


async def test_depth_nought_is_a_header_byte_and_copies_are_earlier_frames(meet: Any) -> None:
    scene = await meet()
    assert scene.controller.takes == [(Carrier.AUDIO, {"red": True, "nack": True})]
    await scene.say(100)
    packets = await scene.gather(10)
    assert {packet[1] & 0x7F for packet in packets} == {RED}
    for packet in packets:
        assert payload_of(packet)[0] == OPUS
        assert describe(payload_of(packet)[1:]).duration_ms == 20
    scene.controller.protection = Protection(copies=(1,))
    await scene.gather(12)
    scene.controller.protection = Protection(copies=(3, 7))
    await scene.gather(12)
    frames: dict[int, bytes] = {}
    depths = []
    for packet in scene.far.packets:
        *copies, frame = unpack(payload_of(packet))
        time = int.from_bytes(packet[4:8], "big")
        frames[time] = frame.data
        assert all(frames[time - copy.offset] == copy.data for copy in copies)
        depths.append([copy.offset // 960 for copy in copies])
    speaking = depths[-30:]
    assert speaking[-1] == [7, 3]
    assert all(depth in ([], [1], [7, 3]) for depth in speaking)
    sent = (await scene.server.client.get(f"/v1/listen/{scene.listener.id}")).json()["sent"]
    assert sent["copy_bytes"] == sum(
        len(copy.data) + 4 for packet in scene.far.packets for copy in unpack(payload_of(packet))[:-1]
    )


async def test_what_is_asked_for_again_comes_byte_for_byte_where_the_plan_says_so(meet: Any) -> None:
    scene = await meet(asks=False)
    await scene.say(100)
    wanted = (await scene.gather(5))[1:3]
    await scene.far.ask_again([sequence_of(packet) for packet in wanted])
    later = await scene.gather(10)
    assert not set(wanted) & set(later), "the plan says nothing of NACK"
    assert scene.listener.sent.repeats == 0

    scene.controller.protection = Protection(nack=True, copies=(3,))
    sent: list[bytes] = []
    scene.listener.network.watch(lambda datagram, fate: sent.append(datagram))
    scene.listener.network.set(down={"loss": 0.2})
    await scene.gather(20)
    scene.listener.network.set(down={"loss": 0})
    here = {sequence_of(packet) for packet in scene.far.packets}
    wanted = [number for number in range(min(here), max(here)) if number not in here]
    assert wanted
    await scene.far.ask_again(wanted)
    await scene.far.ask_again(wanted)
    later = await scene.gather(10)
    assert [n for n in map(sequence_of, later) if n in wanted] == wanted, "once, though asked twice in a round trip"
    assert scene.listener.sent.repeats == len(wanted)
    again = [packet for packet in sent if 128 <= packet[0] < 192 and sequence_of(packet) in wanted]
    assert len(again) == 2 * len(wanted)
    assert len(set(again)) == len(wanted), "encrypted, it is the same"
    assert scene.listener.sent.repeat_bytes == sum(len(packet) + 28 for packet in set(again))


async def test_after_an_interruption_nothing_old_leaves_in_any_way(meet: Any) -> None:
    scene = await meet(asks=False)
    scene.controller.protection = Protection(nack=True, copies=(3, 7))
    await scene.say(200)
    old = await scene.gather(20)
    said = {unpack(payload_of(packet))[-1].data for packet in scene.far.packets}
    response = await scene.server.client.post(f"/v1/listen/{scene.listener.id}/control", json={"stop": True})
    assert response.status_code == 200
    cut = len(scene.far.packets)
    await scene.far.ask_again([sequence_of(packet) for packet in old])
    await scene.say(50)
    await scene.gather(15)
    after = scene.far.packets[cut + 2 :]
    assert not set(old) & set(after)
    for packet in after:
        assert not said & {block.data for block in unpack(payload_of(packet)) if len(block.data) > 2}


async def test_facts_come_packet_by_packet_with_what_was_lost(meet: Any) -> None:
    scene = await meet()
    fates: dict[int, Fate] = {}

    def watch(datagram: bytes, fate: Fate) -> None:
        if 128 <= datagram[0] < 192 and (number := number_of(datagram)) is not None:
            fates.setdefault(number, fate)

    scene.listener.network.watch(watch)
    scene.controller.protection = Protection(nack=True)
    await scene.server.until(lambda: len(scene.controller.reports) > 2)
    assert scene.listener.sent.frames == 0, "silence measures the path before the first word"
    await scene.say(100)
    scene.listener.network.set(down={"loss": 0.1})
    await scene.gather(150)
    reports = scene.controller.reports
    assert {report.source for report in reports} == {Source.TWCC}
    gaps = [b.at - a.at for a, b in itertools.pairwise(reports)]
    assert min(gaps) >= 0.05
    mask = [lost for report in reports for lost in report.lost_mask or ()]
    known = [number for number in range(len(mask)) if number in fates]
    assert len(known) > 120
    assert [mask[number] for number in known] == [fates[number] is Fate.LOST for number in known], "repaired or not"
    assert sum(fate is Fate.LOST for fate in fates.values()) >= 8
    assert scene.listener.sent.repeats >= 6
    newest = reports[-1]
    assert newest.received_rate is not None
    assert newest.sent_rate is not None
    assert newest.received_rate == pytest.approx(newest.sent_rate, rel=0.25)
    assert newest.sent_rate > 40_000
    snapshot = (await scene.server.client.get(f"/v1/listen/{scene.listener.id}")).json()
    assert snapshot["plan"]["protection"] == "nack"
    assert 0 <= snapshot["reports"]["network"]["residual"] <= snapshot["reports"]["network"]["loss"]
    assert snapshot["reports"]["network"]["loss"] == pytest.approx(0.1, abs=0.06), "over the last packets, not three"
    repeats, reported = scene.listener.sent.repeats, len(reports)
    metrics = (await scene.server.client.get("/metrics")).text
    counts = {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in metrics.splitlines() if line[0] != "#"}
    assert counts["legato_repeats_total"] >= repeats
    assert counts['legato_network_reports_total{source="twcc"}'] >= reported
    await scene.listener.close("the test says so")
    metrics = (await scene.server.client.get("/metrics")).text
    assert f"legato_repeats_total {float(scene.listener.sent.repeats)}" in metrics, (
        "they do not leave with the listener"
    )


async def test_a_listener_that_takes_less_gets_plain_opus_and_no_numbers(meet: Any) -> None:
    scene = await meet(more=lambda offer: offer)
    assert scene.controller.takes == [(Carrier.AUDIO, {"red": False, "nack": False})]
    assert "red/48000" not in scene.answer
    assert "nack" not in scene.answer
    scene.controller.protection = Protection(copies=(3,), nack=True)
    await scene.say(50)
    packets = await scene.gather(10)
    assert {packet[1] & 0x7F for packet in packets} == {OPUS}
    assert all(number_of(packet) is None for packet in packets)
    assert all(describe(payload_of(packet)).duration_ms == 20 for packet in packets)
    assert not scene.controller.reports


async def test_noise_in_the_feedback_ends_nothing(meet: Any) -> None:
    scene = await meet()
    await scene.say(100)
    for length in (4, 8, 12, 20, 40):
        await scene.far._send(bytes((0x8F, 205)) + (length // 4).to_bytes(2, "big") + bytes(range(length)))
        await scene.far._send(bytes((0x8F, 205, 0xFF, 0xFF)) + bytes(length))
    await scene.gather(20)
    before = len(scene.controller.reports)
    await scene.server.until(lambda: len(scene.controller.reports) > before + 3)
    assert scene.listener.sent.repeats == 0, "none of it was a request"
    assert asyncio.get_running_loop().is_running()
