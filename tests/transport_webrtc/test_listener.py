"""The life of a listener, heard and watched from outside."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import httpx
import numpy as np
import pytest

from adaptive.control.profiles import PROFILES

RATE = 48_000


def sounding(samples: np.ndarray) -> np.ndarray:
    """What lies between the first and the last loud sample."""
    loud = np.flatnonzero(np.abs(samples) > 0.02)
    assert len(loud), "nothing was heard"
    return samples[loud[0] : loud[-1] + 1]


def pitch(samples: np.ndarray) -> float:
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples)), 2**19))
    return float(np.argmax(spectrum) * RATE / 2**19)


async def read_events(
    client: httpx.AsyncClient, url: str, count: int, **headers: str
) -> list[tuple[int, dict[str, Any]]]:
    """The first `count` events of a stream with their numbers."""
    found: list[tuple[int, dict[str, Any]]] = []
    number = 0
    async with asyncio.timeout(10), client.stream("GET", url, headers=headers) as response:
        assert response.status_code == 200
        async for line in response.aiter_lines():
            if line.startswith("id: "):
                number = int(line[4:])
            if line.startswith("data: "):
                found.append((number, json.loads(line[6:])))
                if len(found) == count:
                    break
    return found


async def test_a_tone_is_heard_whole_and_in_tune(server, ear) -> None:
    one = ear(server)
    await one.connect()
    text = "A tone to be measured, clause after clause."
    one.send({"say": text, "id": "a"})
    finished = await one.told("finished", id="a")
    await asyncio.sleep(0.3)
    heard = sounding(one.samples())
    assert pitch(heard) == pytest.approx(440, abs=2)
    assert len(heard) == pytest.approx(finished["ticks"], rel=0.01, abs=0.15 * RATE)
    names = [event["event"] for event in one.events]
    assert names[0] == "queued"
    assert names.index("started") < names.index("word") < names.index("finished")
    words = [event["text"] for event in one.events if event["event"] == "word"]
    assert " ".join(words) == text


async def test_speech_from_before_the_connection_waits_and_is_heard_whole(server, ear) -> None:
    one = ear(server)
    connect = one.pc.setRemoteDescription

    async def late(description: Any) -> None:
        response = await server.client.post(f"{one.location}/speak", json={"say": "Said early.", "id": "early"})
        assert response.status_code == 202
        assert response.json() == {"id": "early", "place": 0}
        await asyncio.sleep(0.5)
        await connect(description)

    one.pc.setRemoteDescription = late
    await one.connect()
    finished = await one.told("finished", id="early")
    await asyncio.sleep(0.3)
    assert [event["event"] for event in one.events][:1] == ["queued"], "events from before the channel are told too"
    assert len(sounding(one.samples())) == pytest.approx(finished["ticks"], abs=0.15 * RATE)


async def test_verbs_and_the_present(server, ear) -> None:
    one = ear(server)
    await one.connect()
    control = f"{one.location}/control"
    assert (await server.client.post(control, json={"say": "x" * 200, "id": "a"})).json() == {"id": "a", "place": 0}
    assert (await server.client.post(control, json={"say": "Next.", "id": "b"})).json()["place"] == 1
    await one.told("started", id="a")
    assert (await server.client.post(control, json={"pause": True})).json() == {"done": True}
    await one.told("paused", id="a")
    snapshot = await one.snapshot()
    assert snapshot["state"] == "connected"
    assert snapshot["speaking"]["id"] == "a"
    assert snapshot["speaking"]["sounding"] == "paused"
    assert snapshot["queue"] == ["b"]
    assert snapshot["plan"]["reason"] in ("start", "steady")
    assert snapshot["plans"][-1]["bitrate"] == snapshot["plan"]["bitrate"]
    assert snapshot["sent"]["packets"] > 0
    one.send({"resume": True})
    await one.told("resumed", id="a")
    one.send({"stop": True, "id": "a"})
    interrupted = await one.told("interrupted", id="a")
    assert interrupted["heard"] == "", "the one long word had not come to its end"
    await one.told("finished", id="b")
    missing = await server.client.post(control, json={"stop": True, "id": "nobody"})
    assert missing.status_code == 404


async def test_events_over_http_are_those_of_the_channel_and_can_be_taken_up_again(server, ear) -> None:
    one = ear(server)
    await one.connect()
    one.send({"say": "Short.", "id": "a"})
    await one.told("finished", id="a")
    events = f"{one.location}/events"
    told = await read_events(server.client, events, len(one.events), **{"Last-Event-ID": "0"})
    assert [{**event, "number": number} for number, event in told] == one.events
    assert [number for number, _ in told] == list(range(1, len(one.events) + 1))
    again = await read_events(server.client, events, 1, **{"Last-Event-ID": str(len(told) - 1)})
    assert again == told[-1:]
    later = asyncio.create_task(read_events(server.client, events, 1))
    await asyncio.sleep(0.2)
    one.send({"say": "More.", "id": "b"})
    ((_, event),) = await later
    assert event["event"] == "queued"
    assert event["id"] == "b"
    wrong = await server.client.get(events, headers={"Last-Event-ID": "x"})
    assert wrong.status_code == 400


async def test_an_event_stream_ends_with_its_listener(server, ear) -> None:
    one = ear(server)
    await one.connect()

    async def read() -> None:
        async with server.client.stream("GET", f"{one.location}/events") as response:
            async for _ in response.aiter_lines():
                pass

    reading = asyncio.create_task(read())
    await asyncio.sleep(0.2)
    assert (await server.client.delete(one.location)).status_code == 200
    async with asyncio.timeout(5):
        await reading


@pytest.fixture
def short_lived(monkeypatch) -> None:
    """Who is away may come back for a second."""
    brief = {name: replace(profile, token_life_s=1.0) for name, profile in PROFILES.items()}
    monkeypatch.setattr("transport_webrtc.listeners.PROFILES", brief)


def states(server) -> list[str]:
    return [listener.state for listener in server.listeners]


async def test_one_that_leaves_without_a_word_is_away_and_then_forgotten(server, ear, short_lived) -> None:
    one, other = ear(server), ear(server)
    await one.connect()
    await other.connect()
    assert len(server.listeners) == 2
    other.send({"say": "I go on and on and on.", "id": "o"})
    await one.close()
    await server.until(lambda: sorted(states(server)) == ["away", "connected"])
    await server.until(lambda: states(server) == ["connected"])
    await other.told("finished", id="o")


async def test_one_that_vanishes_is_cleaned_up(serve, ear, monkeypatch, short_lived) -> None:
    """The path swallows everything both ways: no goodbye reaches the server."""
    monkeypatch.setattr("transport_webrtc.line.VANISHED_S", 1.5)
    server = await serve(lab=True)
    one = ear(server)
    await one.connect()
    await server.until(lambda: one.pings > 2)
    gone = await server.client.put(f"{one.location}/network", json={"down": {"loss": 1}, "up": {"loss": 1}})
    assert gone.status_code == 200
    await asyncio.sleep(1)
    assert states(server) == ["connected"]
    await server.until(lambda: states(server) == ["away"], seconds=5)
    await server.until(lambda: len(server.listeners) == 0, seconds=5)


async def test_one_that_never_connects_is_cleaned_up(serve, ear, monkeypatch) -> None:
    monkeypatch.setattr("transport_webrtc.line.CONNECTING_S", 0.5)
    server = await serve()
    one = ear(server)
    one.pc.addTransceiver("audio", "recvonly")
    await one.pc.setLocalDescription(await one.pc.createOffer())
    made = await server.client.post(
        "/v1/listen", content=one.pc.localDescription.sdp, headers={"Content-Type": "application/sdp"}
    )
    assert made.status_code == 201
    await server.until(lambda: len(server.listeners) == 0, seconds=3)


async def test_a_failing_controller_leaves_the_sound_alone(server, ear, monkeypatch, caplog) -> None:
    class Broken:
        def __getattr__(self, name: str) -> Any:
            raise RuntimeError("broken")

    monkeypatch.setattr("transport_webrtc.listener.load_controller", lambda name, profile: Broken())
    one = ear(server)
    await one.connect()
    one.send({"say": "It goes on.", "id": "a"})
    await one.told("finished", id="a")
    assert (await one.snapshot())["plan"]["reason"] == "error"
    assert sum("controller failed in plan" in record.getMessage() for record in caplog.records) == 1


async def test_metrics(server, ear) -> None:
    one = ear(server)
    await one.connect()
    one.send({"say": "Counted.", "id": "a"})
    await one.told("finished", id="a")
    one.send("no json")
    await one.told("error")
    await server.until(lambda: next(iter(server.listeners)).network_report is not None)
    text = (await server.client.get("/metrics")).text
    assert 'legato_listeners{state="connected"} 1.0' in text
    assert 'legato_utterances_total{outcome="finished"} 1.0' in text
    assert 'legato_utterances_total{outcome="failed"} 0.0' in text
    assert "legato_first_audio_seconds_count 1.0" in text
    assert 'legato_plan_changes_total{reason="start"} 1.0' in text
    assert 'legato_rung{rung="32k FB 20ms"} 1.0' in text
    assert 'legato_tier{tier="full"} 1.0' in text
    assert 'legato_newest_rtt_seconds{over="max"}' in text
    assert 'legato_opinion{over="min"} 4.' in text
    assert 'legato_refused_total{status="400"} 1.0' in text
    assert "legato_worker_restarts_total 0.0" in text
    assert 'legato_bad_chunks_total{fault="noisy"} 0.0' in text
    assert "legato_chunks_rendered_again_total 0.0" in text


async def test_voices_profiles_and_the_page(server) -> None:
    assert [voice["name"] for voice in (await server.client.get("/v1/voices")).json()] == ["tone"]
    profiles = (await server.client.get("/v1/profiles")).json()
    assert {"voice_chat", "narration", "navigation"} <= {profile["name"] for profile in profiles}
    page = await server.client.get("/")
    assert page.status_code == 200
    assert "<html" in page.text
    assert (await server.client.get("/static/page.js")).headers["content-type"].startswith("text/javascript")
    docs = (await server.client.get("/docs")).text
    assert "/v1/listen/{listener_id}/speak" in docs
    assert "http" not in docs.replace("http-equiv", ""), "it loads nothing from elsewhere"
    charts = await server.client.get("/vendor/plotly.min.js")
    assert len(charts.content) > 1_000_000
    assert (await server.client.get("/healthz")).json() == {"alive": True}
    assert (await server.client.get("/readyz")).json() == {"ready": True}
