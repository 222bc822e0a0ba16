"""Whatever comes over the data channels, the listener that sent it lives on, and so do the others."""

import logging
import struct

import google_crc32c
import pytest
from aiortc.rtcsctptransport import InitChunk

from transport_webrtc.listener import Listener

DCEP, TEXT = 50, 51
"""Payload protocol identifiers (RFC 8831 section 8)."""


def opening(label: bytes, *, claims: int) -> bytes:
    """A DATA_CHANNEL_OPEN (RFC 8832 section 5.1) that claims a length of its label."""
    return struct.pack("!BBHLHH", 3, 0, 0, 0, claims, 0) + label


BROKEN = {
    "text that is no UTF-8": (None, TEXT, b"\xff\xfe\xfd"),
    "a channel opened again": (None, DCEP, opening(b"control", claims=7)),
    "a label cut within a character": (77, DCEP, opening("\u202e".encode() * 200, claims=200)),
    "a label longer than its message": (77, DCEP, opening(b"ab\xff", claims=65_535)),
    "an acknowledgement of nothing": (77, DCEP, b"\x02"),
    "an opening of three bytes": (77, DCEP, b"\x03\x00\x00"),
}


@pytest.mark.parametrize("name", BROKEN)
async def test_a_broken_message_is_dropped(server, ear, name: str) -> None:
    one = ear(server)
    await one.connect()
    stream, protocol, data = BROKEN[name]
    await one.pc.sctp._send(one.control.id if stream is None else stream, protocol, data)
    await one.pc.sctp._send(one.feedback.id if stream is None else stream + 2, protocol, data)
    one.send({"say": "Still here.", "id": "a"})
    await one.told("finished", id="a")
    assert (await one.snapshot())["state"] == "connected"


async def test_a_packet_of_noise_is_dropped_and_told_once(server, ear, caplog) -> None:
    caplog.set_level(logging.WARNING, logger="transport_webrtc")
    one = ear(server)
    await one.connect()
    header = struct.pack("!HHL", 5000, 5000, 0)
    chunks = 2 * bytes(InitChunk())  # RFC 9260 section 6.10 has it alone
    noise = header + struct.pack("<L", google_crc32c.value(header + bytes(4) + chunks)) + chunks
    for _ in range(3):
        await one.pc.sctp.transport._send_data(noise)
    one.send({"say": "Still here.", "id": "a"})
    await one.told("finished", id="a")
    assert sum("was dropped" in record.getMessage() for record in caplog.records) == 1


async def test_a_fault_of_a_handler_is_told_and_survived(server, ear, caplog, monkeypatch) -> None:
    one = ear(server)
    await one.connect()
    listener: Listener = next(iter(server.listeners))
    channel = listener.line.facts._channel
    original = channel._on_network
    failing, reported = True, 0

    def fails(message):
        if failing:
            raise ZeroDivisionError
        return listener.do(message)

    def fails_too(report):
        nonlocal reported
        reported += 1
        if failing:
            raise ZeroDivisionError
        original(report)

    monkeypatch.setattr(listener._inbox, "_on_message", fails)
    monkeypatch.setattr(channel, "_on_network", fails_too)
    one.send({"stop": True})
    assert "log" in (await one.told("error", status=500))["message"]
    await server.until(lambda: reported >= 2)
    failing = False
    one.send({"say": "Still here.", "id": "a"})
    await one.told("finished", id="a")
    faults = [record.getMessage() for record in caplog.records if "fault of the server" in record.getMessage()]
    assert len(faults) == 2, faults
