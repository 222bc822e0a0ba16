"""Session descriptions as text: what an offer must hold, what is taken out of it, what a trickled fragment says. Pure.

An offer is judged here before aiortc sees it, so that whoever sent a wrong one reads what is wrong with it.
"""

import ipaddress
import re
from dataclasses import dataclass

from ..messages import Refused

MAX_SECTIONS = 8
"""Media sections in an offer; a browser that listens sends two."""
MAX_CANDIDATES = 16
"""Remote candidates of one listener that are used, the first ones: each makes the server send checks to an address of
the peer's choosing. A browser has a few for each network that it is on."""
MAX_LISTED = 256
"""Candidates in one body, used or not."""
_LISTENING = ("recvonly", "sendrecv")
_ICE = {"ice-ufrag": re.compile(r"[A-Za-z0-9+/]{4,256}"), "ice-pwd": re.compile(r"[A-Za-z0-9+/]{22,256}")}
"""RFC 8839 section 5.4."""
_DIGESTS = {"sha-256": 32, "sha-384": 48, "sha-512": 64}
"""Bytes of a fingerprint, by those hash functions of RFC 8122 section 5 that are not broken."""
_DIRECTION = re.compile(r"a=(sendrecv|sendonly|recvonly|inactive)$")


@dataclass(frozen=True, kw_only=True)
class Offer:
    """An offer that can be answered."""

    sdp: str
    """As aiortc is given it."""
    audio_mid: str
    """Of the section that the speech goes out on: the first audio section that wants to hear something."""
    ufrag: str
    candidates: int
    """Usable remote candidates in it."""


@dataclass(frozen=True, kw_only=True)
class Fragment:
    """What a PATCH adds (RFC 8840): candidates with the mid that they belong to."""

    ufrag: str | None
    candidates: tuple[tuple[str, str], ...]
    """(mid, candidate line without `a=candidate:`)"""
    complete: bool
    """No more candidates will come."""


def read(body: bytes, what: str) -> str:
    """Bytes as text, or `Refused`."""
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused(400, f"The {what} is not UTF-8 text.") from None


def parse_offer(text: str) -> Offer:
    """Judges an offer. Raises `Refused` with status 400 and a sentence."""
    session, sections = _split(text)
    if not session or session[0] != "v=0":
        raise Refused(400, "This is no session description: it must begin with v=0.")
    if len(sections) > MAX_SECTIONS:
        raise Refused(400, f"The offer has {len(sections)} media sections; at most {MAX_SECTIONS} are taken.")
    audio = [lines for lines in sections if lines[0].startswith("m=audio ")]
    if not audio:
        raise Refused(400, "The offer has no audio section, so there is nothing to speak on: add a recvonly audio one.")
    listening = next((lines for lines in audio if _direction(lines) in _LISTENING), None)
    if listening is None:
        raise Refused(400, "The offer's audio section must be recvonly or sendrecv, or the speech cannot be heard.")
    if not any(re.match(r"a=rtpmap:\d+ opus/48000/2$", line, re.IGNORECASE) for line in listening):
        raise Refused(400, "The offer's audio section does not offer Opus (opus/48000/2), which the speech comes in.")
    _check_bundle(session, sections)
    for lines in sections:
        _check_transport(session, lines)
    usable = 0
    kept = []
    for lines in sections:
        direction = [] if not _is_media(lines) or any(map(_DIRECTION.match, lines)) else ["a=sendrecv"]
        # Peers behind a .local name, and all others, are found when they knock (peer-reflexive, RFC 8445 section
        # 7.3.1.3); that only works as long as more candidates may come, so an end of them is not passed on.
        remaining = [line for line in lines if not line.startswith(("a=candidate:", "a=end-of-candidates"))]
        listed = [line for line in lines if line.startswith("a=candidate:")]
        _check_count(len(listed))
        candidates = [line for line in listed if _usable(line[12:])][: MAX_CANDIDATES - usable]
        usable += len(candidates)
        kept += remaining + direction + candidates
    return Offer(
        sdp="\r\n".join([*session, *kept]) + "\r\n",
        audio_mid=_value(listening, "mid") or "",
        ufrag=_value(listening, "ice-ufrag") or _value(session, "ice-ufrag") or "",
        candidates=usable,
    )


def parse_fragment(text: str) -> Fragment:
    """Reads the body of a PATCH (RFC 8840 section 9). Raises `Refused` with status 400."""
    mid: str | None = None
    ufrag: str | None = None
    complete = False
    listed = 0
    candidates: list[tuple[str, str]] = []
    for line in map(str.strip, text.replace("\r\n", "\n").split("\n")):
        name, _, value = line.partition(":")
        if name == "a=mid":
            mid = value
        elif name == "a=ice-ufrag":
            ufrag = value
        elif name == "a=end-of-candidates":
            complete = True
        elif name == "a=candidate":
            if mid is None:
                raise Refused(400, "A candidate of the fragment has no a=mid: line before it (RFC 8840).")
            listed += 1
            _check_count(listed)
            if _usable(value):
                candidates.append((mid, value))
    if not candidates and not complete and mid is None and ufrag is None:
        raise Refused(400, "The fragment holds no candidates: it needs a=mid: and a=candidate: lines (RFC 8840).")
    return Fragment(ufrag=ufrag, candidates=tuple(candidates), complete=complete)


def _split(text: str) -> tuple[list[str], list[list[str]]]:
    """The lines before the first media section, and those of each section."""
    session: list[str] = []
    sections: list[list[str]] = []
    for line in text.replace("\r\n", "\n").split("\n"):
        if not line.strip():
            continue
        if line.startswith("m="):
            sections.append([line])
        else:
            (sections[-1] if sections else session).append(line)
    return session, sections


def _value(lines: list[str], name: str) -> str | None:
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(f"a={name}:")), None)


def _values(lines: list[str], name: str) -> list[str]:
    return [line.split(":", 1)[1].strip() for line in lines if line.startswith(f"a={name}:")]


def _is_media(lines: list[str]) -> bool:
    return lines[0].startswith(("m=audio ", "m=video "))


def _direction(lines: list[str]) -> str:
    """Of a section; `sendrecv` where it says nothing (RFC 8866 section 6.7)."""
    return next((m[1] for line in lines if (m := _DIRECTION.match(line))), "sendrecv")


def _check_bundle(session: list[str], sections: list[list[str]]) -> None:
    mids = [_value(lines, "mid") for lines in sections]
    if None in mids or len(set(mids)) != len(mids):
        raise Refused(400, "Every media section of the offer needs an a=mid: line of its own.")
    groups = [line.split()[1:] for line in session if line.startswith("a=group:BUNDLE")]
    if (
        len(groups) > 1
        or (groups and sorted(groups[0]) != sorted(filter(None, mids)))
        or len(sections) > 1 > len(groups)
    ):
        raise Refused(400, "The offer's media sections must share one transport: a=group:BUNDLE has to name them all.")


def _check_transport(session: list[str], lines: list[str]) -> None:
    name = lines[0][2:].split(" ", 1)[0]
    if name not in ("audio", "video", "application"):
        raise Refused(
            400, f"The offer has a section of the kind {name[:20]!r}; audio, video and application are known."
        )
    for attribute in ("ice-ufrag", "ice-pwd", "fingerprint", "setup"):
        value = _value(lines, attribute) or _value(session, attribute)
        if not value:
            raise Refused(400, f"The {name} section of the offer has no a={attribute}: line.")
        if attribute in _ICE and not _ICE[attribute].fullmatch(value):
            least = 4 if attribute == "ice-ufrag" else 22
            raise Refused(
                400,
                f"The offer's a={attribute}: must be {least} to 256 letters, digits, + and / (RFC 8839 section 5.4).",
            )
    for value in _values(session + lines, "fingerprint"):
        _check_fingerprint(value)
    if _is_media(lines) and "a=rtcp-mux" not in lines:
        raise Refused(400, f"The {name} section of the offer has no a=rtcp-mux line.")


def _check_fingerprint(value: str) -> None:
    function, _, digest = value.partition(" ")
    size = _DIGESTS.get(function.lower())
    if size is None:
        raise Refused(400, f"The offer's a=fingerprint: must be made with one of {', '.join(_DIGESTS)}.")
    if not re.fullmatch(rf"[0-9A-Fa-f]{{2}}(:[0-9A-Fa-f]{{2}}){{{size - 1}}}", digest.strip()):
        raise Refused(
            400, f"The offer's a=fingerprint: must be {size} bytes in hexadecimal with colons between for {function}."
        )


def _check_count(listed: int) -> None:
    if listed > MAX_LISTED:
        raise Refused(400, f"There are more than {MAX_LISTED} candidates; send those that others can reach.")


def _usable(candidate: str) -> bool:
    """UDP, with an address of one machine that needs no look-up: names are never resolved for a peer."""
    fields = candidate.split()
    if len(fields) < 8 or fields[1] != "1" or fields[2].lower() != "udp" or fields[6] != "typ":
        return False
    try:
        address = ipaddress.ip_address(fields[4])
    except ValueError:
        return False
    broadcast = address == ipaddress.IPv4Address("255.255.255.255")
    return (
        not (address.is_multicast or address.is_unspecified or broadcast or "%" in fields[4])
        and fields[7] in ("host", "srflx", "prflx", "relay")
        and _whole(fields[3], 2**32 - 1)
        and _whole(fields[5], 65_535)
        and int(fields[5]) > 0
        and len(fields) % 2 == 0
    )


def _whole(text: str, most: int) -> bool:
    return re.fullmatch(r"[0-9]{1,10}", text) is not None and int(text) <= most
