import asyncio

import aiortc
import pytest

from transport_webrtc.signalling import capabilities, sdp
from transport_webrtc.signalling.capabilities import Capabilities

CHROMIUM = """\
v=0
o=- 3315549951957431095 2 IN IP4 127.0.0.1
s=-
t=0 0
a=group:BUNDLE 0 1
a=extmap-allow-mixed
a=msid-semantic: WMS
m=audio 9 UDP/TLS/RTP/SAVPF 111 63 9 0 8 13 110 126
c=IN IP4 0.0.0.0
a=rtcp:9 IN IP4 0.0.0.0
a=ice-ufrag:i8kJ
a=ice-pwd:47wp+EBvDft7g3MeAE3DS87M
a=ice-options:trickle
a=fingerprint:sha-256 AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB
a=setup:actpass
a=mid:0
a=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level
a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time
a=extmap:3 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01
a=extmap:4 urn:ietf:params:rtp-hdrext:sdes:mid
a=recvonly
a=rtcp-mux
a=rtcp-rsize
a=rtcp-xr:rcvr-rtt=all
a=rtpmap:111 opus/48000/2
a=rtcp-fb:111 transport-cc
a=fmtp:111 minptime=10;useinbandfec=1
a=rtpmap:63 red/48000/2
a=fmtp:63 111/111
a=rtpmap:9 G722/8000
a=rtpmap:0 PCMU/8000
a=rtpmap:8 PCMA/8000
a=rtpmap:13 CN/8000
a=rtpmap:110 telephone-event/48000
a=rtpmap:126 telephone-event/8000
m=application 9 UDP/DTLS/SCTP webrtc-datachannel
c=IN IP4 0.0.0.0
a=ice-ufrag:i8kJ
a=ice-pwd:47wp+EBvDft7g3MeAE3DS87M
a=ice-options:trickle
a=fingerprint:sha-256 AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB
a=setup:actpass
a=mid:1
a=sctp-port:5000
a=max-message-size:262144
"""


def test_chromium_takes_copies_and_gives_transport_wide_feedback() -> None:
    assert capabilities.read(CHROMIUM) == Capabilities(
        opus=111, fmtp="minptime=10;useinbandfec=1", red=63, transport_wide=3
    )


def test_what_chromium_offers_is_taken() -> None:
    parsed = sdp.parse_offer(CHROMIUM.replace("\n", "\r\n"))
    assert (parsed.audio_mid, parsed.ufrag, parsed.candidates) == ("0", "i8kJ", 0)
    trickled = (
        "2441410931 1 udp 2113937151 192.0.2.7 57013 typ host generation 0 ufrag i8kJ network-cost 999",
        "842163049 1 udp 1677729535 203.0.113.5 46154 typ srflx raddr 0.0.0.0 rport 0 generation 0 ufrag i8kJ "
        "network-id 1",
    )
    fragment = sdp.parse_fragment("a=mid:0\r\n" + "".join(f"a=candidate:{line}\r\n" for line in trickled))
    assert tuple(line for _, line in fragment.candidates) == trickled


def test_an_offer_without_opus_has_no_capabilities() -> None:
    assert capabilities.read(CHROMIUM.replace("opus/48000/2", "speex/48000/2")) is None
    assert capabilities.read("v=0\r\n") is None


@pytest.mark.parametrize(
    ("cut", "red", "transport_wide"),
    [
        ("a=rtpmap:63 red/48000/2\n", None, 3),
        ("a=fmtp:63 111/111\n", None, 3),
        ("a=rtcp-fb:111 transport-cc\n", 63, None),
        ("a=extmap:3 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01\n", 63, None),
    ],
)
def test_what_is_not_offered_is_not_answered(cut: str, red: int | None, transport_wide: int | None) -> None:
    assert cut in CHROMIUM
    found = capabilities.read(CHROMIUM.replace(cut, ""))
    assert found is not None
    assert (found.red, found.transport_wide) == (red, transport_wide)


@pytest.mark.parametrize(
    ("found", "offered", "red", "transport_wide", "nack"),
    [
        ("63 red", "72 red", None, 3, True),
        ("extmap:3", "extmap:15", 63, None, True),
        ("extmap:3", "extmap:0", 63, None, True),
        ("a=rtcp-fb:111 transport-cc", "a=rtcp-fb:111 nack", 63, None, True),
        ("a=rtcp-fb:111 transport-cc", "a=rtcp-fb:* transport-cc", 63, 3, True),
        ("a=rtcp-fb:111 transport-cc\n", "", 63, None, False),
    ],
)
def test_what_cannot_work_is_not_answered_and_retransmission_where_it_will_be_asked_for(
    found: str, offered: str, red: int | None, transport_wide: int | None, nack: bool
) -> None:
    assert found in CHROMIUM
    offer = CHROMIUM.replace(found, offered).replace("fmtp:63", "fmtp:72" if offered == "72 red" else "fmtp:63")
    takes = capabilities.read(offer)
    assert takes is not None
    assert (takes.red, takes.transport_wide, takes.nack) == (red, transport_wide, nack)


async def answer_to(offer: str) -> tuple[str, Capabilities]:
    found = capabilities.read(offer)
    assert found is not None
    pc = aiortc.RTCPeerConnection(aiortc.RTCConfiguration(iceServers=[]))
    pc.addTransceiver("audio", direction="sendonly")
    try:
        await pc.setRemoteDescription(aiortc.RTCSessionDescription(capabilities.for_aiortc(offer, found), "offer"))
        await pc.setLocalDescription(await pc.createAnswer())
        return capabilities.for_listener(pc.localDescription.sdp, found), found
    finally:
        await asyncio.shield(pc.close())


async def test_the_answer_names_both_types_and_their_feedback() -> None:
    answer, found = await answer_to(CHROMIUM)
    audio = answer[answer.index("m=audio") : answer.index("m=application")].splitlines()
    assert audio[0].endswith(" 63 111")
    for line in (
        "a=rtpmap:63 red/48000/2",
        "a=fmtp:63 111/111",
        "a=rtpmap:111 opus/48000/2",
        "a=rtcp-fb:63 transport-cc",
        "a=rtcp-fb:111 nack",
        f"a=extmap:{found.transport_wide} http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01",
    ):
        assert audio.count(line) == 1, line
    assert answer.endswith("\r\n")
    assert "m=application" in answer


async def test_a_listener_with_opus_alone_is_answered_with_opus_alone() -> None:
    answer, _ = await answer_to(CHROMIUM.replace("a=rtpmap:63 red/48000/2\n", "").replace("a=fmtp:63 111/111\n", ""))
    assert "red/48000" not in answer
    assert "a=rtpmap:111 opus/48000/2" in answer
