"""What an offer's audio section can take beyond Opus, and the texts that make aiortc agree to it.

aiortc negotiates one payload type a codec and knows neither RED (RFC 2198) nor transport-wide feedback for audio. So it
is shown an offer with Opus alone; what the listener can take besides is read here, sent by the carrier, and written
into the answer. aiortc drops payload types outside 96..127 (Chromium's RED is 63), hence the Opus number in the offer.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from ..feedback import twcc

_OPUS = re.compile(r"a=rtpmap:(\d+) opus/48000/2$", re.IGNORECASE)
_RED = re.compile(r"a=rtpmap:(\d+) red/48000/2$", re.IGNORECASE)
_PER_PAYLOAD = re.compile(r"a=(?:rtpmap|fmtp|rtcp-fb):(\d+|\*) ")
ONE_BYTE = range(1, 15)
"""Ids of header extensions in the one-byte form (RFC 8285 section 4.2)."""
LIKE_RTCP = range(64, 96)
"""Payload types that, with the marker bit that aiortc sets, look like RTCP (RFC 5761 section 4)."""
DEFAULT_FMTP = "minptime=10;useinbandfec=1"


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """Of one listener's audio section."""

    opus: int
    """Payload type of Opus."""
    fmtp: str
    """Its format parameters (RFC 7587 section 6.1)."""
    red: int | None
    """Payload type of RED with Opus inside; None where the listener does not take copies."""
    transport_wide: int | None
    """Header extension id for transport-wide feedback; None where the listener gives none."""
    nack: bool = True
    """Retransmissions may be asked for. Chromium does so wherever the answer allows it, though its offers do not say
    so: an offer of transport-wide feedback is taken for one of both."""

    @property
    def primary(self) -> int:
        """Payload type the packets carry."""
        return self.opus if self.red is None else self.red


def read(offer: str) -> Capabilities | None:
    """The capabilities of the first audio section, or None where it has no Opus."""
    lines = _audio_section(offer)
    opus = next((int(m[1]) for line in lines if (m := _OPUS.match(line))), None)
    if opus is None:
        return None
    red = (int(m[1]) for line in lines if (m := _RED.match(line)))
    inside = {f"a=fmtp:{number} {opus}/{opus}": number for number in red if number not in LIKE_RTCP}
    fmtp = next((line.split(" ", 1)[1] for line in lines if line.startswith(f"a=fmtp:{opus} ")), DEFAULT_FMTP)
    feedback = {kind for kind in ("transport-cc", "nack") for pt in (opus, "*") if f"a=rtcp-fb:{pt} {kind}" in lines}
    extension = next(
        (int(m[1]) for line in lines if (m := re.match(rf"a=extmap:(\d+)(?:/\w+)? {re.escape(twcc.URI)}", line))), None
    )
    return Capabilities(
        opus=opus,
        fmtp=fmtp,
        red=next((inside[line] for line in lines if line in inside), None),
        transport_wide=extension if "transport-cc" in feedback and extension in ONE_BYTE else None,
        nack=bool(feedback),
    )


def for_aiortc(offer: str, capabilities: Capabilities) -> str:
    """The offer with nothing but Opus in its audio section."""
    return _rewrite(offer, lambda lines: _only(lines, capabilities.opus))


def for_listener(answer: str, capabilities: Capabilities) -> str:
    """aiortc's answer with RED, retransmission and transport-wide feedback added as far as the listener takes them."""
    return _rewrite(answer, lambda lines: _extended(lines, capabilities))


def _only(lines: list[str], payload_type: int) -> list[str]:
    kept = []
    for line in lines:
        if line.startswith("m=audio"):
            line = " ".join([*line.split(" ")[:3], str(payload_type)])
        match = _PER_PAYLOAD.match(line)
        if match and match[1] != str(payload_type):
            continue
        if not line.startswith(f"a=rtcp-fb:{payload_type} "):
            kept.append(line)
    return kept


def _extended(lines: list[str], capabilities: Capabilities) -> list[str]:
    types = [t for t in (capabilities.red, capabilities.opus) if t is not None]
    feedback = ["nack"] if capabilities.nack else []
    codecs = []
    if capabilities.transport_wide is not None:
        feedback.insert(0, "transport-cc")
        codecs.append(f"a=extmap:{capabilities.transport_wide} {twcc.URI}")
    for payload_type in types:
        if payload_type == capabilities.red:
            codecs += [
                f"a=rtpmap:{payload_type} red/48000/2",
                f"a=fmtp:{payload_type} {capabilities.opus}/{capabilities.opus}",
            ]
        else:
            codecs += [f"a=rtpmap:{payload_type} opus/48000/2", f"a=fmtp:{payload_type} {capabilities.fmtp}"]
        codecs += [f"a=rtcp-fb:{payload_type} {kind}" for kind in feedback]
    result: list[str] = []
    for line in lines:
        if line.startswith("m=audio"):
            line = " ".join([*line.split(" ")[:3], *map(str, types)])
        if _PER_PAYLOAD.match(line):
            if codecs:
                result += codecs
                codecs = []
            continue
        if not line.startswith("a=extmap:") or twcc.URI not in line:
            result.append(line)
    return result


def _sections(sdp: str) -> list[list[str]]:
    sections: list[list[str]] = [[]]
    for line in sdp.replace("\r\n", "\n").rstrip("\n").split("\n"):
        if line.startswith("m="):
            sections.append([])
        sections[-1].append(line)
    return sections


def _audio_section(sdp: str) -> list[str]:
    return next((s for s in _sections(sdp) if s and s[0].startswith("m=audio")), [])


def _rewrite(sdp: str, change: Callable[[list[str]], list[str]]) -> str:
    sections = _sections(sdp)
    for i, section in enumerate(sections):
        if section and section[0].startswith("m=audio"):
            sections[i] = change(section)
            break
    return "\r\n".join(line for section in sections for line in section) + "\r\n"
