"""Transport-wide feedback: what the listener says it received of every packet, and when.

Source: draft-holmer-rmcat-transport-wide-cc-extensions-01. A feedback packet is RTCP 205 (RTPFB) with format 15: base
sequence number, count, a 24-bit reference time in 64 ms, then run-length or vector chunks of packet states, then one
receive delta in 250 µs for every packet that arrived.
"""

import struct

from adaptive.control.fates import Feedback

URI = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
RTPFB = 205
TRANSPORT_WIDE = 15
_HEADER = 20
_FIELDS = struct.Struct("!HHi")
"""Base number and count; reference time in the upper 24 bits of the last."""
_REFERENCE_US = 64_000
_DELTA_US = 250
_SMALL, _LARGE = 1, 2
"""States 'arrived, delta of 8 bits' and 'arrived, signed delta of 16 bits'; 0 is not received, 3 is reserved."""


def parse_feedback(packet: bytes) -> Feedback:
    """Reads one RTCP packet with its header. Raises ValueError for one that is not whole."""
    end = 4 + 4 * int.from_bytes(packet[2:4], "big")
    if end > len(packet) or end < _HEADER:
        raise ValueError("a transport-wide feedback packet is shorter than its header says")
    if packet[0] & 0x20:
        padding = packet[end - 1]
        if not 0 < padding <= end - _HEADER:
            raise ValueError("a transport-wide feedback packet has more padding than room")
        end -= padding
    base, count, reference = _FIELDS.unpack_from(packet, 12)
    states, at = _states(packet, count, end)
    arrivals = _arrivals(packet, states, at, end)
    return Feedback(base=base, number=packet[19], reference=reference >> 8, arrivals_us=arrivals)


def _states(packet: bytes, count: int, end: int) -> tuple[list[int], int]:
    states: list[int] = []
    at = _HEADER
    while len(states) < count:
        if at + 2 > end:
            raise ValueError("a transport-wide feedback packet ends inside its packet states")
        chunk = packet[at] << 8 | packet[at + 1]
        at += 2
        if not chunk & 0x8000:
            states += [chunk >> 13] * min(chunk & 0x1FFF, count - len(states))
            if not chunk & 0x1FFF:
                raise ValueError("a transport-wide feedback packet has a run of no packets")
        elif not chunk & 0x4000:
            states += [chunk >> bit & 1 for bit in range(13, -1, -1)]
        else:
            states += [chunk >> bit & 3 for bit in range(12, -1, -2)]
    return states[:count], at


def _arrivals(packet: bytes, states: list[int], at: int, end: int) -> tuple[int | None, ...]:
    time_us = 0
    arrivals: list[int | None] = []
    for state in states:
        if state == _SMALL and at < end:
            time_us += _DELTA_US * packet[at]
        elif state == _LARGE and at + 1 < end:
            time_us += _DELTA_US * ((packet[at] ^ 0x80) - 0x80 << 8 | packet[at + 1])
        elif state in (_SMALL, _LARGE):
            raise ValueError("a transport-wide feedback packet ends inside its receive deltas")
        else:
            arrivals.append(None)
            continue
        at += state
        arrivals.append(time_us)
    return tuple(arrivals)


def stamp(packet: bytes, *, element: int, number: int) -> bytes:
    """An RTP packet with `number` in a one-byte header extension (RFC 8285 section 4.2) of id `element`.

    A packet whose extension has the two-byte form is returned as it is.
    """
    value = bytes((element << 4 | 1, number >> 8 & 0xFF, number & 0xFF))
    header = 12 + 4 * (packet[0] & 0x0F)
    if not packet[0] & 0x10:
        return _extended(bytes((packet[0] | 0x10,)) + packet[1:header], value, packet[header:])
    if packet[header : header + 2] != b"\xbe\xde":
        return packet
    end = header + 4 + 4 * int.from_bytes(packet[header + 2 : header + 4], "big")
    return _extended(packet[:header], packet[header + 4 : end] + value, packet[end:])


def _extended(header: bytes, elements: bytes, rest: bytes) -> bytes:
    elements += bytes(-len(elements) % 4)
    return header + b"\xbe\xde" + (len(elements) // 4).to_bytes(2, "big") + elements + rest
