"""What a page says over a network that loses four packets of ten."""

import json
import threading
import time
from collections.abc import Callable

import httpx
import numpy as np
import pytest

pytestmark = [pytest.mark.browser, pytest.mark.long]

LOSSY = {"loss": 0.4, "delay_ms": 25}


def test_what_is_said_over_40_percent_loss_reaches_the_server_soon(server, listen: Callable) -> None:
    ear = listen(server)
    ear.open("voice=tone&carrier=data")
    queued: dict[str, float] = {}

    def follow() -> None:
        with httpx.stream("GET", f"{server.url}{ear.listener}/events", timeout=120) as response:
            for line in response.iter_lines():
                if line.startswith("data:") and (event := json.loads(line[5:]))["event"] == "queued":
                    queued[event["id"]] = time.time()

    threading.Thread(target=follow, daemon=True).start()
    ear.rest(0.5)
    server.ask("PUT", f"{ear.listener}/network", {"down": LOSSY, "up": LOSSY})
    waits = []
    for _ in range(20):
        asked = time.time()
        utterance = ear.say("hi", voice="tone")
        while utterance not in queued and time.time() - asked < 5:
            ear.rest(0.02)
        waits.append(queued[utterance] - asked)
        ear.rest(0.6)
    print(f"median {np.median(waits):.3f}, p90 {np.percentile(waits, 90):.3f}, max {max(waits):.3f} s")
    assert np.percentile(waits, 90) < 0.7
