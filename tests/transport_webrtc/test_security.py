"""Limits, tokens, noise and silence about what is private."""

import asyncio
import contextlib
import logging
import os

SECRET = "correct horse battery staple"
BEARER = {"Authorization": f"Bearer {SECRET}"}


async def test_everything_asks_for_the_token(serve) -> None:
    server = await serve(token=SECRET, lab=True)
    listener = "/v1/listen/x"
    guarded = [
        ("POST", "/v1/listen"),
        ("GET", "/v1/voices"),
        ("GET", "/v1/profiles"),
        ("GET", listener),
        ("DELETE", listener),
        ("PATCH", listener),
        ("GET", f"{listener}/events"),
        ("POST", f"{listener}/speak"),
        ("POST", f"{listener}/control"),
        ("GET", f"{listener}/network"),
        ("PUT", f"{listener}/network"),
        ("GET", "/metrics"),
    ]
    for method, path in guarded:
        for given in (None, SECRET, f"Basic {SECRET}", "Bearer no", "Bearer \u00e9"):
            headers = {} if given is None else {"Authorization": given.encode()}
            response = await server.client.request(method, path, headers=headers)
            assert response.status_code == 401, (method, path, given)
            assert response.headers["www-authenticate"] == "Bearer"
            assert "token" in response.json()["error"]
        assert (await server.client.request(method, path, headers=BEARER)).status_code != 401


async def test_what_needs_no_token(serve, ear) -> None:
    server = await serve(token=SECRET, client_headers=BEARER)
    one = ear(server)
    assert (await one.connect()).status_code == 201
    one.send({"say": "Heard.", "id": "a"})
    await one.told("finished", id="a")
    server.client.headers.pop("Authorization")
    for path in ("/", "/healthz", "/readyz", "/static/page.js"):
        assert (await server.client.get(path)).status_code == 200
    assert (await one.client.get(one.location)).status_code == 401
    server.client.headers.update(BEARER)


async def test_ice_credentials_are_told_to_those_with_the_token(serve) -> None:
    turn = '[{"urls": "turn:t.example", "username": "u", "credential": "hidden"}]'
    server = await serve(token=SECRET, ice_servers=turn)
    assert "link" not in (await server.client.options("/v1/listen")).headers
    assert "hidden" in (await server.client.options("/v1/listen", headers=BEARER)).headers["link"]


async def test_ids_cannot_be_guessed(server, ear) -> None:
    ears = [ear(server) for _ in range(3)]
    for one in ears:
        await one.connect()
    ids = {one.location.rsplit("/", 1)[1] for one in ears}
    assert len(ids) == 3
    assert all(len(listener_id) == 32 for listener_id in ids), "24 random bytes"


async def test_bodies(server, ear) -> None:
    one = ear(server)
    await one.connect()
    speak = f"{one.location}/speak"
    json_type = {"Content-Type": "application/json"}
    cases = [
        (b'{"say": "\xff\xfe"}', 400),
        (b"\x00\x01\x02", 400),
        (b"[]", 422),
        (b'{"say": ""}', 422),
        (b'{"say": "   "}', 422),
        (b'{"say": 5}', 422),
        (b'{"say": "x", "sing": true}', 422),
        (b'{"pause": true}', 422),
        (b'{"say": "x", "voice": "nobody"}', 422),
        (b'{"say": "x", "speed": NaN}', 422),
        (b'{"say": "' + b"x" * 30_000 + b'"}', 413),
        (b'{"say": "' + b"x" * 1_000_000 + b'"}', 413),
        (b"[" * 60_000, 400),
    ]
    for body, status in cases:
        response = await server.client.post(speak, content=body, headers=json_type)
        assert response.status_code == status, (body[:40], response.text)
        assert response.json()["error"].endswith(".")
    assert (await server.client.post(speak, content=b'{"say": "x"}')).status_code == 415
    for method, path, status in (
        ("GET", "/v1/nothing", 404),
        ("PUT", "/v1/listen", 405),
        ("GET", "/../etc/passwd", 404),
    ):
        response = await server.client.request(method, path)
        assert response.status_code == status
        assert response.json()["error"].endswith(".")


async def test_an_endless_body_is_refused_at_the_limit(server) -> None:
    """It says no length and never ends; the answer comes as soon as the limit is passed."""
    host, port = server.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(
        b"POST /v1/listen HTTP/1.1\r\nHost: x\r\nContent-Type: application/sdp\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    for _ in range(5):
        writer.write(b"4000\r\n" + b"v" * 0x4000 + b"\r\n")
    async with asyncio.timeout(5):
        assert b" 413 " in await reader.readline()
    writer.close()


async def test_noise_on_the_control_channel(server, ear) -> None:
    one, other = ear(server), ear(server)
    await one.connect()
    await other.connect()
    other.send({"say": "Nothing of it is heard here.", "id": "o"})
    for noise in (os.urandom(500), b"\xff", b"", "null", '{"say": "x", "sing": 1}', "{" * 5000, "x" * 70_000):
        before = len(one.events)
        one.send(noise)
        await server.until(lambda before=before: len(one.events) > before)
        event = one.events[-1]
        assert event["event"] == "error"
        assert event["status"] in (400, 413, 422)
        assert event["message"].endswith(".")
    one.send({"say": "Still here.", "id": "a"})
    await one.told("finished", id="a")
    await other.told("finished", id="o")
    assert {event["event"] for event in other.events} <= {"queued", "marks", "started", "word", "progress", "finished"}


async def test_noise_on_the_feedback_channel(server, ear) -> None:
    one = ear(server)
    await one.connect()
    for noise in (os.urandom(900), b"", "[]", '{"p": -1}', "x" * 60_000):
        one.feedback.send(noise)
    listener = next(iter(server.listeners))
    await server.until(lambda: listener.network_report is not None)


async def test_a_flood_on_the_control_channel(server, ear) -> None:
    one = ear(server)
    await one.connect()
    for _ in range(300):
        one.send({"pause": True})
    event = await one.told("error", status=429)
    assert "50 messages a second" in event["message"]
    await asyncio.sleep(1.2)
    assert sum(event.get("status") == 429 for event in one.events) <= 3, "complaints do not flood either"
    one.send({"say": "Later.", "id": "a"})
    await one.told("finished", id="a")


async def test_a_flood_over_http(serve, ear) -> None:
    server = await serve(max_messages_per_s=5)
    one, other = ear(server), ear(server)
    await one.connect()
    await other.connect()
    control = f"{one.location}/control"
    body = {"content": b'{"pause": true}', "headers": {"Content-Type": "application/json"}}
    answers = await asyncio.gather(*(server.client.post(control, **body) for _ in range(50)))
    refused = [response for response in answers if response.status_code == 429]
    assert 1 <= len(refused) <= 45
    assert "5 messages a second" in refused[0].json()["error"]
    assert (await server.client.post(f"{other.location}/control", **body)).status_code == 200


async def test_what_monitors_ask_with_head(server) -> None:
    for path in ("/", "/healthz", "/readyz", "/metrics"):
        response = await server.client.head(path)
        assert response.status_code == 200
        assert response.content == b""


async def slowly(server, sent: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A body is announced that does not come."""
    host, port = server.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(
        b"POST /v1/listen HTTP/1.1\r\nHost: x\r\nContent-Type: application/sdp\r\nContent-Length: 500\r\n\r\n" + sent
    )
    return reader, writer


async def test_a_body_that_does_not_come_is_waited_for_so_long(server, monkeypatch) -> None:
    monkeypatch.setattr("transport_webrtc.http.BODY_S", 0.3)
    reader, writer = await slowly(server, b"v=0")
    async with asyncio.timeout(5):
        answer = (await reader.read()).decode()
    assert answer.startswith("HTTP/1.1 408 ")
    assert "did not arrive within" in answer
    writer.close()


async def test_who_goes_while_sending_goes_quietly(server, caplog) -> None:
    _, writer = await slowly(server, b"v=0")
    await asyncio.sleep(0.1)
    writer.transport.abort()
    await asyncio.sleep(0.3)
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


async def test_streams_of_one_listener_are_counted(server, ear) -> None:
    one = ear(server)
    await one.connect()
    events = f"{one.location}/events"
    async with contextlib.AsyncExitStack() as streams:
        for _ in range(16):
            response = await streams.enter_async_context(server.client.stream("GET", events))
            assert response.status_code == 200
        listener = next(iter(server.listeners))
        await server.until(lambda: listener.events.streams == 16)
        assert (await server.client.get(events)).status_code == 429
    await server.until(lambda: listener.events.streams == 0)


async def test_unknown_channels_are_ignored(server, ear) -> None:
    one = ear(server)
    strange = one.pc.createDataChannel("strange")
    await one.connect()
    await server.until(lambda: strange.readyState == "open")
    strange.send("hello")
    one.send({"say": "Fine.", "id": "a"})
    await one.told("finished", id="a")


async def test_channels_are_counted(server, ear) -> None:
    one = ear(server)
    await one.connect()
    strange = [one.pc.createDataChannel(f"strange {number}") for number in range(40)]
    await server.until(lambda: sum(channel.readyState == "open" for channel in strange) >= 14)
    one.send({"say": "Fine.", "id": "a"})
    await one.told("finished", id="a")
    (listener,) = server.listeners
    held = listener._line._peer.pc.sctp._data_channels
    assert len(held) == 16
    assert "close those you do not use" in (await one.told("error", status=429))["message"]
    assert sum(event["event"] == "error" for event in one.events) < 10, "not one for each of 27"
    strange[0].close()
    await server.until(lambda: strange[0].readyState == "closed")
    again = one.pc.createDataChannel("later")
    await server.until(lambda: again.readyState == "open")


async def test_nothing_private_is_logged(serve, ear, caplog) -> None:
    caplog.set_level(logging.DEBUG, logger="transport_webrtc")
    caplog.set_level(logging.DEBUG, logger="uvicorn")
    server = await serve(token=SECRET, client_headers=BEARER)
    one = ear(server)
    made = await one.connect()
    one.send({"say": "My secret diary.", "id": "diary"})
    await one.told("finished", id="diary")
    one.send('{"say": "my secret diary", "x": 1}')
    await one.told("error")
    await server.client.post("/v1/listen", content=one.pc.localDescription.sdp[:200])
    listener_id = one.location.rsplit("/", 1)[1]
    await one.close()
    await server.until(lambda: next(iter(server.listeners)).state == "away")
    await server.client.delete(one.location)
    logged = "\n".join(r.getMessage() for r in caplog.records if r.name.startswith(("transport_webrtc", "uvicorn")))
    assert "leaves" in logged
    for private in (
        "diary",
        SECRET,
        made.headers["legato-resume-token"],
        listener_id,
        "ice-pwd",
        "fingerprint",
        "192.0.2",
        "a=candidate",
    ):
        assert private not in logged
