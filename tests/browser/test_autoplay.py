"""A browser that wants a tap first hears everything from its beginning, on either carrier."""

from collections.abc import Callable

import numpy as np
import pytest
import sweep_voice
from bare import Bare
from recordings import RATE, lasts_s, pitch, sweep_ticks

pytestmark = [pytest.mark.browser, pytest.mark.long]

TEXT = "m" * 40
BEFORE_S = 1.5
SPEAK = """addEventListener("DOMContentLoaded", async () => {
  const {connect} = await import("/static/legato.js");
  globalThis.told = [];
  globalThis.listener = connect({url: "/", carrier: "CARRIER"});
  for (const name of ["event", "audible"]) listener.addEventListener(name, ({detail}) => told.push(detail));
  listener.addEventListener("audible", ({detail}) => console.info("audible", detail.audible));
  listener.say("TEXT", {id: "first", voice: "sweep"});
  addEventListener("click", () => listener.play());
});"""


@pytest.mark.parametrize("carrier", ["data", "audio"])
def test_what_was_said_before_a_tap_is_heard_from_its_beginning(
    serve: Callable, tmp_path, listen: Callable, carrier: str
) -> None:
    server = serve(plugins=sweep_voice.installed(tmp_path), voices="tone,sweep", voice="sweep")
    bare = Bare(listen(server, autoplay=False), voice="sweep")
    # By the page itself: what playwright evaluates counts as a person's doing.
    bare.page.add_init_script(SPEAK.replace("CARRIER", carrier).replace("TEXT", TEXT))
    with bare.page.expect_console_message(lambda message: message.text == "audible false"):
        bare.page.goto(f"{server.url}static/style.css")
    bare.ear.rest(BEFORE_S)
    bare.page.mouse.click(10, 10)
    bare.wait("finished", "first")
    bare.ear.rest(0.3)
    samples = bare.played().samples if carrier == "data" else bare.ear.end().samples
    places = sweep_ticks(pitch(samples)) / RATE
    places = places[np.isfinite(places)]
    print(f"{carrier}: from {places[0]:.3f} s to {places[-1]:.3f} s, {lasts_s(samples):.3f} s in all")
    assert places[0] < 0.05
    assert lasts_s(samples) == pytest.approx(len(TEXT) * 0.06, abs=0.05)
    assert bare.page.evaluate("listener.audible")
