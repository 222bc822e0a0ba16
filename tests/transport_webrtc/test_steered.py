"""From the network to the sound and back: a listener's path gets narrow, and what it is sent follows."""

import json

import pytest

from transport_webrtc.client import Client
from transport_webrtc.control_channel import THIN_GAP_S, ControlChannel
from transport_webrtc.events import Numbered
from transport_webrtc.inbox import Inbox, TokenBucket
from transport_webrtc.messages import Limits


@pytest.mark.alone
async def test_a_narrow_path_is_followed_at_once(serve) -> None:
    server = await serve(lab=True)
    async with Client(server.url, carrier="audio") as client:
        await client.say("A tone that goes on and on. " * 20, id="a")
        await client.told("progress")
        listener = next(iter(server.listeners))
        await server.until(lambda: listener.network_report is not None)
        before = listener.plan
        assert before.rung.bitrate == 32_000
        await client.network({"preset": "bad"})
        await server.until(
            lambda: (
                listener.plan.rung.bitrate < 20_000
                and listener.plan.rung.bandwidth != before.rung.bandwidth
                and listener.plan.tier != before.tier
            ),
            seconds=3,
        )
        assert listener.plan.reason in ("congested", "steady")
        changed = await client.told("switched", timeout_s=5)
        assert changed["reason"] == "congested"
        plans = (await client.snapshot())["plans"]
        assert [plan["bitrate"] for plan in plans][-1] < 20_000
        assert plans[-1]["at"] > plans[0]["at"]


class FakeChannel:
    """Holds what is sent; a real one needs a connection that is slow in just the right way."""

    readyState = "open"
    bufferedAmount = 0

    def __init__(self) -> None:
        self.sent: list[str] = []

    def on(self, *_: object) -> None: ...

    def send(self, text: str) -> None:
        self.sent.append(json.loads(text)["event"])


def test_events_leave_room_for_speech() -> None:
    now = [10.0]
    channel = FakeChannel()
    clock = lambda: now[0]  # noqa: E731
    inbox = Inbox(limits=Limits(), rate=50, clock=clock, on_message=lambda _: None, on_refused=lambda _: None)
    control = ControlChannel(channel, inbox, clock=clock)  # type: ignore[arg-type]

    def ten_seconds(*, words: bool = True) -> list[str]:
        channel.sent.clear()
        for step in range(40):
            now[0] += 0.25
            control.send(Numbered(number=1, event={"event": "word" if words and step % 2 else "progress"}))
        control.send(Numbered(number=1, event={"event": "finished"}))
        return channel.sent

    assert len(ten_seconds(words=False)) == 41
    sent = ten_seconds()
    assert sent.count("word") == 20
    assert 8 <= sent.count("progress") <= 11, "a word says as well where the listener is"
    control.thin = True
    sent = ten_seconds()
    assert sent.count("progress") == 0
    assert 10 / THIN_GAP_S - 2 <= sent.count("word") <= 10 / THIN_GAP_S
    assert sent[-1] == "finished"
    control.thin = False
    channel.bufferedAmount = 5_000
    assert ten_seconds() == ["finished"]
    channel.bufferedAmount = 5_000_000
    assert ten_seconds() == []


def test_a_bucket_lets_a_rate_through() -> None:
    bucket = TokenBucket(50)
    assert sum(bucket.take(0.0) for _ in range(100)) == 50
    assert sum(bucket.take(1 + step / 100) for step in range(300)) == 50 + 149
