"""Signalling over a real socket, with the offers of a real aiortc."""

import asyncio
import gc
import logging
import re

import aioice
import httpx
import pytest
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

SDP = {"Content-Type": "application/sdp"}
FRAGMENT = {"Content-Type": "application/trickle-ice-sdpfrag"}


async def make_offer(*kinds: tuple[str, str]) -> str:
    """An offer with sections of these kinds and directions; ('channel', '') adds a data channel."""
    pc = RTCPeerConnection(RTCConfiguration(iceServers=[]))
    for kind, direction in kinds:
        if kind == "channel":
            pc.createDataChannel("control")
        else:
            pc.addTransceiver(kind, direction)
    await pc.setLocalDescription(await pc.createOffer())
    text: str = pc.localDescription.sdp
    await pc.close()
    return text


def address(made: httpx.Response) -> str:
    """Of the new listener."""
    return str(made.url.join(made.headers["location"]))


def directions(answer: str) -> list[str]:
    return re.findall(r"^a=(sendonly|recvonly|sendrecv|inactive)\s*$", answer, re.MULTILINE)


async def test_an_offer_is_answered_with_all_candidates(server) -> None:
    response = await server.client.post("/v1/listen", content=await make_offer(("audio", "recvonly")), headers=SDP)
    assert response.status_code == 201
    assert response.headers["content-type"].startswith("application/sdp")
    assert re.fullmatch(r"listen/[\w-]{32}", response.headers["location"])
    assert response.headers["etag"]
    assert "Location" in response.headers["access-control-expose-headers"]
    assert "link" not in response.headers
    assert directions(response.text) == ["sendonly"]
    assert "a=candidate:" in response.text
    assert " 127.0.0.1 " in response.text, "bound to loopback, it has to be reachable there"
    assert "a=end-of-candidates" in response.text
    assert len(server.listeners) == 1


async def test_a_microphone_is_answered_for_listening_only(server) -> None:
    response = await server.client.post("/v1/listen", content=await make_offer(("audio", "sendrecv")), headers=SDP)
    assert response.status_code == 201
    assert directions(response.text) == ["sendonly"]


@pytest.mark.parametrize("first", ["audio", "video"])
async def test_video_is_answered_inactive(server, first) -> None:
    kinds = [("audio", "recvonly"), ("video", "recvonly"), ("channel", "")]
    offer = await make_offer(*(kinds if first == "audio" else [kinds[1], kinds[0], kinds[2]]))
    response = await server.client.post("/v1/listen", content=offer, headers=SDP)
    assert response.status_code == 201
    assert sorted(directions(response.text)) == ["inactive", "sendonly"]


async def test_speech_alone_is_negotiated_as_opus_whatever_comes_first(server) -> None:
    offer = await make_offer(("audio", "recvonly"))
    types = re.search(r"m=audio \d+ \S+ ([\d ]+)", offer)[1].split()
    swapped = offer.replace(" ".join(types), " ".join(reversed(types)))
    response = await server.client.post("/v1/listen", content=swapped, headers=SDP)
    assert re.findall(r"a=rtpmap:\d+ (\S+)", response.text) == ["opus/48000/2"]


@pytest.mark.parametrize("kinds", [[("channel", "")], [("video", "recvonly")], [("audio", "sendonly")]])
async def test_nothing_to_speak_on(server, kinds) -> None:
    response = await server.client.post("/v1/listen", content=await make_offer(*kinds), headers=SDP)
    assert response.status_code == 400
    assert "audio" in response.json()["error"]
    assert len(server.listeners) == 0


async def test_other_types_and_answers(server) -> None:
    offer = await make_offer(("audio", "recvonly"))
    for headers in ({}, {"Content-Type": "application/json"}):
        response = await server.client.post("/v1/listen", content=offer, headers=headers)
        assert response.status_code == 415
        assert "application/sdp" in response.json()["error"]
    response = await server.client.post("/v1/listen", content=offer, headers={**SDP, "Accept": "text/html"})
    assert response.status_code == 406
    response = await server.client.post("/v1/listen", content=offer, headers={**SDP, "Accept": "text/html, */*;q=.1"})
    assert response.status_code == 201


@pytest.mark.parametrize(
    ("query", "says"),
    [("voice=nobody", "tone"), ("profile=radio", "narration"), ("carrier=pigeon", "audio")],
)
async def test_unknown_names_are_told_the_known_ones(server, query, says) -> None:
    offer = await make_offer(("audio", "recvonly"))
    response = await server.client.post(f"/v1/listen?{query}", content=offer, headers=SDP)
    assert response.status_code == 400
    assert says in response.json()["error"]


async def test_options_links_and_cors(serve) -> None:
    server = await serve(
        cors_origins=("https://page.example",),
        ice_servers='[{"urls": "turn:t.example", "username": "u\\"", "credential": "c"}, {"urls": "stun:s.example"}]',
    )
    expected = (
        '<turn:t.example>; rel="ice-server"; username="u\\""; credential="c"; credential-type="password", '
        '<stun:s.example>; rel="ice-server"'
    )
    plain = await server.client.options("/v1/listen")
    assert plain.status_code == 204
    assert plain.headers["accept-post"] == "application/sdp"
    assert plain.headers["link"] == expected
    preflight = {"Origin": "https://page.example", "Access-Control-Request-Method": "POST"}
    allowed = await server.client.options("/v1/listen", headers=preflight)
    assert allowed.headers["access-control-allow-origin"] == "https://page.example"
    other = await server.client.options("/v1/listen", headers={**preflight, "Origin": "https://evil.example"})
    assert "access-control-allow-origin" not in other.headers
    answer = await server.client.get("/v1/voices", headers={"Origin": "https://page.example"})
    assert answer.headers["access-control-allow-origin"] == "https://page.example"


async def test_trickle(server) -> None:
    offer = await make_offer(("audio", "recvonly"))
    ufrag = re.search(r"a=ice-ufrag:(\S+)", offer)[1]
    bare = "".join(line for line in offer.splitlines(keepends=True) if not line.startswith("a=candidate"))
    made = await server.client.post("/v1/listen", content=bare, headers=SDP)
    url, etag = address(made), made.headers["etag"]

    async def patch(body: str | bytes, **headers: str) -> httpx.Response:
        return await server.client.patch(url, content=body, headers={**FRAGMENT, **headers})

    candidate = "a=candidate:1 1 udp 2113937151 192.0.2.77 50000 typ host\r\n"
    good = f"a=ice-ufrag:{ufrag}\r\nm=audio 9 UDP/TLS/RTP/SAVPF 0\r\na=mid:0\r\n{candidate}"
    assert (await patch(good, **{"If-Match": etag})).status_code == 204
    assert (await patch(good)).status_code == 204
    assert (await patch(good, **{"If-Match": '"other"'})).status_code == 412
    assert (await patch(good, **{"If-Match": "*"})).status_code == 422
    assert (await patch(good.replace(ufrag, "other"))).status_code == 422
    assert (await patch(good.replace("50000", "a port"))).status_code == 204, "left out, as names are"
    assert (await patch(good + candidate * 300)).status_code == 400
    assert (await patch("nothing of use")).status_code == 400
    assert (await patch(b"\xff\xfe")).status_code == 400
    assert (await patch(good + "a=end-of-candidates\r\n")).status_code == 204
    assert (await patch(good + candidate * 64)).status_code == 204, "those beyond the limit are left out"
    response = await server.client.patch(url, content=good, headers=SDP)
    assert response.status_code == 415
    assert (await server.client.patch("/v1/listen/nobody", content=good, headers=FRAGMENT)).status_code == 404


async def test_a_listener_that_trickles_everything_is_found(server) -> None:
    """No candidate in the offer, none later: the server learns where the peer is when it knocks."""
    pc = RTCPeerConnection(RTCConfiguration(iceServers=[]))
    pc.addTransceiver("audio", "recvonly")
    await pc.setLocalDescription(await pc.createOffer())
    bare = "".join(
        line for line in pc.localDescription.sdp.splitlines(keepends=True) if "candidate" not in line.split(":")[0]
    )
    made = await server.client.post("/v1/listen", content=bare, headers=SDP)
    await pc.setRemoteDescription(RTCSessionDescription(sdp=made.text, type="answer"))
    await server.until(lambda: pc.connectionState == "connected")
    await pc.close()


async def test_goodbye(server) -> None:
    offer = await make_offer(("audio", "recvonly"))
    url = address(await server.client.post("/v1/listen", content=offer, headers=SDP))
    assert (await server.client.get(url)).json()["state"] == "connecting"
    assert (await server.client.delete(url)).status_code == 200
    assert len(server.listeners) == 0
    for response in (await server.client.delete(url), await server.client.get(url)):
        assert response.status_code == 404
        assert "no such listener" in response.json()["error"]


async def test_full_and_draining(serve) -> None:
    server = await serve(max_listeners=1)
    offer = await make_offer(("audio", "recvonly"))
    assert (await server.client.post("/v1/listen", content=offer, headers=SDP)).status_code == 201
    full = await server.client.post("/v1/listen", content=offer, headers=SDP)
    assert full.status_code == 503
    assert full.headers["retry-after"]
    assert (await server.client.get("/readyz")).status_code == 200
    await server.listeners.close()
    assert len(server.listeners) == 0
    draining = await server.client.post("/v1/listen", content=offer, headers=SDP)
    assert draining.status_code == 503
    assert "shutting down" in draining.json()["error"]
    assert (await server.client.get("/readyz")).status_code == 503
    assert (await server.client.get("/healthz")).status_code == 200


async def test_huge_and_broken_offers(server) -> None:
    huge = await server.client.post("/v1/listen", content=b"v=0\r\n" + b"a=x\r\n" * 200_000, headers=SDP)
    assert huge.status_code == 413
    for body in (b"", b"\xff\xfe\x00", b"v=0", b"\x00" * 1000, b"v=0\r\nm=audio \r\n"):
        response = await server.client.post("/v1/listen", content=body, headers=SDP)
        assert response.status_code == 400
        assert response.json()["error"].endswith(".")


async def test_damaged_offers_never_fail_the_server(server, caplog) -> None:
    """Lines dropped, doubled, cut and garbled: 201 or 400, and nothing is left behind by a 400."""
    lines = (await make_offer(("audio", "sendrecv"), ("video", "recvonly"), ("channel", ""))).splitlines()
    damage = st.lists(
        st.tuples(st.integers(0, len(lines) - 1), st.sampled_from(["drop", "double", "cut", "garble", "number"])),
        min_size=1,
        max_size=3,
    )
    offers: list[str] = []

    @settings(max_examples=60, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    @given(damage, st.integers(0, 60))
    def collect(changes: list[tuple[int, str]], at: int) -> None:
        out = list(lines)
        for index, how in changes:
            line = out[index]
            out[index] = {
                "drop": "",
                "double": f"{line}\r\n{line}",
                "cut": line[:at],
                "garble": line[:at] + "\u2603 \t" + line[at + 1 :],
                "number": re.sub(r"\d+", "99999999999999999999", line),
            }[how]
        offers.append("\r\n".join(line for line in out if line) + "\r\n")

    collect()
    statuses = set()
    for offer in offers:
        response = await server.client.post("/v1/listen", content=offer.encode(), headers=SDP)
        assert response.status_code in (201, 400), (response.status_code, offer)
        statuses.add(response.status_code)
        if response.status_code == 201:
            await server.client.delete(address(response))
        assert len(server.listeners) == 0
    assert statuses == {201, 400}
    gc.collect()
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []


async def test_addresses_of_candidates(serve, monkeypatch) -> None:
    server = await serve(host="0.0.0.0")
    offer = await make_offer(("audio", "recvonly"))

    async def addresses() -> set[str]:
        answer = (await server.client.post("/v1/listen", content=offer, headers=SDP)).text
        return set(re.findall(r"a=candidate:\S+ 1 udp \d+ (\S+)", answer))

    monkeypatch.setattr("aioice.ice.get_host_addresses", lambda use_ipv4, use_ipv6: ["127.0.0.2"])
    assert await addresses() == {"127.0.0.2"}, "others cannot reach this machine's loopback"
    monkeypatch.setattr("aioice.ice.get_host_addresses", lambda use_ipv4, use_ipv6: [])
    assert {"127.0.0.1"} <= await addresses() <= {"127.0.0.1", "::1"}, "there is no other"


async def offers(server, count: int) -> list[httpx.Response]:
    offer = await make_offer(("audio", "recvonly"))
    return [await server.client.post("/v1/listen", content=offer, headers=SDP) for _ in range(count)]


async def test_offers_that_never_connect_leave_room_for_those_that_do(serve, ear, monkeypatch) -> None:
    monkeypatch.setattr("transport_webrtc.listeners.YIELDS_AFTER_S", 1.0)
    server = await serve(max_listeners=8)
    settled = ear(server)
    assert (await settled.connect()).status_code == 201
    made = await offers(server, 5)
    assert [response.status_code for response in made] == [201, 201, 201, 201, 503]
    assert made[-1].headers["retry-after"]
    assert "connecting" in made[-1].json()["error"]
    await asyncio.sleep(1.1)
    newcomer = ear(server)
    assert (await newcomer.connect()).status_code == 201
    gone = [(await server.client.get(address(response))).status_code for response in made[:4]]
    assert gone == [404, 200, 200, 200], "the oldest of them"
    assert (await settled.snapshot())["state"] == (await newcomer.snapshot())["state"] == "connected"


@pytest.mark.parametrize("how", [lambda: [], lambda: (_ for _ in ()).throw(OSError(24, "Too many open files"))])
async def test_where_no_socket_can_be_opened_it_is_not_the_offers_fault(server, monkeypatch, how) -> None:
    async def candidates(self, **asked) -> list:
        return how()

    offer = await make_offer(("audio", "recvonly"))
    with monkeypatch.context() as patch:
        patch.setattr(aioice.Connection, "get_component_candidates", candidates)
        response = await server.client.post("/v1/listen", content=offer, headers=SDP)
    assert response.status_code == 503
    assert "one more listener" in response.json()["error"]
    assert "retry-after" in response.headers
    assert len(server.listeners) == 0
    assert (await server.client.post("/v1/listen", content=offer, headers=SDP)).status_code == 201


async def test_a_turn_server_that_gives_no_address_is_told_of(serve, caplog) -> None:
    server = await serve(ice_servers='[{"urls": "turn:t.invalid", "username": "u", "credential": "c"}]')
    offer = await make_offer(("audio", "recvonly"))
    assert (await server.client.post("/v1/listen", content=offer, headers=SDP)).status_code == 201
    assert "No TURN server gave an address" in caplog.text
