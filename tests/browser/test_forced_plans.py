"""Plans that change all the time, on a network where nothing is wrong: changing them costs the listener nothing."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.voices]

TEXT = (
    "The boat leaned out of the harbour like an old man leaving a warm room, and every lamp on board swung to the same "
    "side. Somewhere below a door was knocking, twice, and then twice again, until at last somebody went to shut it."
)
MAX_CONCEALED = 0.005


@pytest.fixture
def plugins(tmp_path: Path) -> Path:
    """A folder with an installed distribution that brings the controller `forced`."""
    shutil.copy(Path(__file__).parent / "forced_plans.py", tmp_path)
    info = tmp_path / "forced_plans-0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: forced-plans\nVersion: 0\n")
    (info / "entry_points.txt").write_text("[legato.controllers]\nforced = forced_plans:ForcedController\n")
    return tmp_path


def test_changing_plans_on_a_clean_network_conceals_nothing(serve, plugins, listen: Callable, undisturbed) -> None:
    server = serve(plugins=plugins, controller="forced", voices="joe", voice="joe", token="let me in")
    ear = listen(server)
    ear.open("carrier=audio")
    shares: list[float] = []
    seen: list[dict[str, Any]] = []

    def once():
        ear.rest(2)
        ear.say(TEXT, voice="joe")
        ear.wait("sounding", within_s=10)
        ear.begin()
        before = ear.stats()
        ear.rest(9)
        after = ear.stats()
        heard = ear.end()
        seen[:] = server.get(ear.listener)["plans"]
        ear.page.click("#stop")
        counted = {name: after[name] - before[name] for name in ("concealedSamples", "totalSamplesReceived")}
        shares.append(counted["concealedSamples"] / counted["totalSamplesReceived"])
        ear.wait("interrupted", within_s=5)
        return heard

    undisturbed(once)
    assert {plan["reason"] for plan in seen} == {"forced"}
    while_speaking = seen[-8:]
    assert len({(plan["bitrate"], plan["bandwidth"], plan["frame_ms"]) for plan in while_speaking}) == 4
    assert {plan["tier"] for plan in while_speaking} == {"full", "light", "mixed"}
    print(f"concealed share {shares[-1]:.2%}")
    assert shares[-1] <= MAX_CONCEALED
    assert ear.complaints == []
