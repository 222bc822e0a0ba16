"""What an offer must hold, judged as text."""

import pytest

from transport_webrtc.messages import Refused
from transport_webrtc.signalling import sdp

TRANSPORT = f"""a=ice-ufrag:abcd
a=ice-pwd:0123456789012345678901
a=fingerprint:sha-256 {":".join(["AB"] * 32)}
a=setup:actpass
"""
AUDIO = f"""m=audio 9 UDP/TLS/RTP/SAVPF 111 0
c=IN IP4 0.0.0.0
{TRANSPORT}a=mid:0
a=recvonly
a=rtcp-mux
a=rtpmap:111 opus/48000/2
a=rtpmap:0 PCMU/8000
"""
DATA = f"""m=application 9 UDP/DTLS/SCTP webrtc-datachannel
c=IN IP4 0.0.0.0
{TRANSPORT}a=mid:1
a=sctp-port:5000
"""
SESSION = "v=0\no=- 1 1 IN IP4 0.0.0.0\ns=-\nt=0 0\n"


def offer(*sections: str, session: str = SESSION + "a=group:BUNDLE 0 1\n") -> str:
    return (session + "".join(sections)).replace("\n", "\r\n")


def test_a_browsers_offer_passes() -> None:
    parsed = sdp.parse_offer(offer(AUDIO, DATA))
    assert parsed.audio_mid == "0"
    assert parsed.ufrag == "abcd"
    assert parsed.candidates == 0


def test_candidates_with_names_and_over_tcp_are_left_out() -> None:
    candidates = (
        "a=candidate:1 1 udp 2113937151 5f1a.local 50000 typ host\n"
        "a=candidate:2 1 tcp 1518280447 192.0.2.9 9 typ host tcptype active\n"
        "a=candidate:3 1 UDP 2113937151 192.0.2.9 50001 typ host\n"
        "a=end-of-candidates\n"
    )
    parsed = sdp.parse_offer(offer(AUDIO + candidates, DATA))
    assert parsed.candidates == 1
    assert "192.0.2.9 50001" in parsed.sdp
    assert ".local" not in parsed.sdp
    assert "tcptype" not in parsed.sdp
    assert "end-of-candidates" not in parsed.sdp


@pytest.mark.parametrize(
    "candidate",
    [
        "1 1 udp 1 192.0.2.1 99999 typ host",
        "1 1 udp 1 192.0.2.1 0 typ host",
        "1 1 udp 1 192.0.2.1 -1 typ host",
        f"1 1 udp 1 192.0.2.1 {'9' * 5000} typ host",
        "1 1 udp 1 192.0.2.1 \u0665 typ host",
        "1 1 udp 1 dead 5000 typ host",
        "1 1 udp 1 beef.cafe 5000 typ host",
        "1 1 udp 1 999.1.1.1 5000 typ host",
        "1 1 udp 1 ::: 5000 typ host",
        "1 1 udp 1 :: 5000 typ host",
        "1 1 udp 1 0.0.0.0 5000 typ host",
        "1 1 udp 1 fe80::1%lo 5000 typ host",
        "1 1 udp 1 224.0.0.1 5000 typ host",
        "1 1 udp 1 ff02::1 5000 typ host",
        "1 1 udp 1 255.255.255.255 5000 typ host",
        "1 1 udp -5 192.0.2.1 5000 typ host",
        "1 1 udp x 192.0.2.1 5000 typ host",
        "1 9 udp 1 192.0.2.1 5000 typ host",
        "1 x udp 1 192.0.2.1 5000 typ host",
        "1 1 udp 1 192.0.2.1 5000 typ junk",
        "1 1 udp 1 192.0.2.1 5000 typ",
        "1 1 udp 1 192.0.2.1 5000 typ host raddr",
    ],
)
def test_candidates_that_lead_nowhere_are_left_out(candidate: str) -> None:
    good = "a=candidate:2 1 udp 2113937151 2001:db8::1 50001 typ srflx raddr 192.0.2.9 rport 5 generation 0\n"
    parsed = sdp.parse_offer(offer(f"{AUDIO}a=candidate:{candidate}\n{good}", DATA))
    assert parsed.candidates == 1
    assert candidate not in parsed.sdp
    assert sdp.parse_fragment(f"a=mid:0\r\na=candidate:{candidate}").candidates == ()


def test_the_first_candidates_are_used() -> None:
    many = "".join(f"a=candidate:{i} 1 udp 1 192.0.2.{i} 5000 typ host\n" for i in range(1, 41))
    parsed = sdp.parse_offer(offer(AUDIO + many, DATA + many))
    assert parsed.candidates == sdp.MAX_CANDIDATES == 16
    assert parsed.sdp.count("a=candidate:") == 16


def test_a_section_that_says_no_direction_is_sendrecv() -> None:
    assert "a=sendrecv" in sdp.parse_offer(offer(AUDIO.replace("a=recvonly\n", ""), DATA)).sdp


def test_transport_lines_may_stand_in_the_session() -> None:
    bare = AUDIO.replace(TRANSPORT, "")
    assert sdp.parse_offer(offer(bare, session=SESSION + TRANSPORT)).ufrag == "abcd"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "must begin with v=0"),
        ("hello", "must begin with v=0"),
        (offer(DATA), "no audio section"),
        (offer(AUDIO.replace("recvonly", "sendonly"), DATA), "recvonly or sendrecv"),
        (offer(AUDIO.replace("opus", "speex"), DATA), "does not offer Opus"),
        (offer(AUDIO.replace("a=rtcp-mux\n", ""), DATA), "no a=rtcp-mux"),
        (offer(AUDIO.replace("a=mid:0\n", ""), DATA), "a=mid: line of its own"),
        (offer(AUDIO, DATA, session=SESSION), "a=group:BUNDLE"),
        (offer(AUDIO, DATA.replace("a=ice-pwd:0123456789012345678901\n", "")), "no a=ice-pwd"),
        (offer(AUDIO, DATA.replace("m=application", "m=text")), "kind 'text'"),
        (offer(AUDIO, *[DATA] * 8), "at most 8"),
        (offer(AUDIO + "a=candidate:1 1 udp 1 192.0.2.1 5 typ host\n" * 257, DATA), "more than 256 candidates"),
        *(
            (offer(AUDIO.replace("a=ice-ufrag:abcd", f"a=ice-ufrag:{ufrag}"), DATA), "ice-ufrag: must be 4 to 256")
            for ufrag in ("abc", "u" * 257, "été!", "ab cd")
        ),
        *(
            (offer(AUDIO.replace("0123456789012345678901", pwd), DATA), "ice-pwd: must be 22 to 256")
            for pwd in ("0" * 21, "0" * 257, "é" * 22)
        ),
        *(
            (offer(AUDIO.replace("sha-256 AB", f"sha-256 {start}"), DATA), "32 bytes in hexadecimal")
            for start in ("ZZ", "A", "AB:AB", "")
        ),
        (offer(AUDIO.replace("sha-256", "md5"), DATA), "one of sha-256, sha-384, sha-512"),
    ],
)
def test_what_is_wrong_is_said(text: str, says: str) -> None:
    with pytest.raises(Refused, match=says) as refused:
        sdp.parse_offer(text)
    assert refused.value.status == 400


def test_a_fragment() -> None:
    fragment = sdp.parse_fragment(
        "a=ice-ufrag:abcd\r\na=ice-pwd:x\r\nm=audio 9 UDP/TLS/RTP/SAVPF 0\r\na=mid:0\r\n"
        "a=candidate:1 1 udp 2113937151 192.0.2.1 50000 typ host\r\na=candidate:2 1 udp 1 x.local 5 typ host\r\n"
        "a=mid:1\r\na=candidate:3 1 udp 2113937151 192.0.2.1 50001 typ host\r\na=end-of-candidates\r\n"
    )
    assert fragment.ufrag == "abcd"
    assert [mid for mid, _ in fragment.candidates] == ["0", "1"]
    assert fragment.complete


@pytest.mark.parametrize("text", ["", "hello", "a=candidate:1 1 udp 1 192.0.2.1 5 typ host"])
def test_no_fragment(text: str) -> None:
    with pytest.raises(Refused, match="RFC 8840"):
        sdp.parse_fragment(text)
