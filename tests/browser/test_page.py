"""The page as people use it."""

from collections.abc import Callable

import numpy as np
import pytest

pytestmark = pytest.mark.browser

PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}


def level_db(samples) -> float:
    """dBFS."""
    return 10 * np.log10(np.mean(np.square(samples), dtype=float) + 1e-12)


def test_a_refused_autoplay_asks_for_a_tap_and_loses_nothing(server, listen: Callable) -> None:
    ear = listen(server, autoplay=False)
    ear.open("voice=tone&text=Hello+again.&play")
    ear.page.wait_for_selector("#tap", state="visible")
    assert "Tap to listen" in ear.page.inner_text("#tap")
    assert ear.page.locator("#transcript li").count() == 0, "it spoke while nobody could hear it"

    ear.begin()
    ear.page.click("#tap")
    ear.wait("finished", within_s=20)
    ear.rest(0.5)
    heard = ear.end()

    assert ear.page.is_hidden("#tap")
    assert not ear.page.evaluate("document.getElementById('audio').paused")
    assert level_db(heard.samples) > -40, "after the tap nothing was heard"
    sounding = np.abs(heard.samples) > 0.05
    assert np.mean(sounding) * len(heard.samples) / 48_000 > 0.3, "12 characters at 60 ms each began before the tap"


UNMARKED = """async () => {
  const {Transcript} = await import("./static/words.js");
  const list = document.createElement("ul");
  document.body.append(list);
  const transcript = new Transcript(list);
  transcript.begin("u1", "One, two three; four five 66 seven eight nine ten");
  const shown = [];
  for (const [text, start] of [["One", 0], ["six", 150000], ["nine", 192000], ["ten", 240000]]) {
    transcript.take({event: "word", id: "u1", text, start, end: start + 1000});
    shown.push([...list.querySelectorAll(".words span")].map((span) => [span.className, span.textContent]));
  }
  return {shown, text: list.querySelector(".words").textContent};
}"""


def test_words_light_up_though_no_marks_came(server, listen: Callable) -> None:
    """A narrow network is spared the marks, and most words."""
    ear = listen(server)
    ear.open()
    got = ear.page.evaluate(UNMARKED)
    between = "two three; four five 66 seven eight"
    assert got["shown"][0] == [["current", "One"]]
    assert got["shown"][1] == [["spoken", "One"]], "a word that is spelt differently stands nowhere"
    assert got["shown"][2] == [["spoken", "One"], ["spoken", ", " + between], ["current", "nine"]]
    assert got["shown"][3][-2:] == [["spoken", "nine"], ["current", "ten"]]
    assert got["text"] == "One, two three; four five 66 seven eight nine ten"


def test_words_light_up_and_buttons_do_what_they_say(server, listen: Callable) -> None:
    ear = listen(server)
    ear.open()
    ear.say("one two three four five six seven eight nine ten eleven twelve thirteen fourteen", voice="tone")
    ear.page.wait_for_selector("#transcript .spoken >> nth=1")
    ear.page.click("#pause")
    ear.wait("paused", within_s=3)
    ear.rest(0.5)
    position = server.get(ear.listener)["speaking"]["position"]
    lit = ear.page.locator("#transcript .words span").evaluate_all("spans => spans.map(span => span.className)")
    now = lit.index("current")
    assert lit == ["spoken"] * now + ["current"] + [""] * (13 - now)
    assert 2 <= now < 13
    ear.rest(0.5)
    assert server.get(ear.listener)["speaking"]["position"] == position, "it went on while paused"
    ear.page.click("#pause")
    ear.wait("sounding", within_s=3)

    ear.say("something else", voice="tone")
    ear.wait("queued", within_s=3)
    assert server.get(ear.listener)["queue"]
    ear.page.click("#clear")
    ear.wait("interrupted", within_s=3)
    ear.press("#interrupt")
    ear.wait("finished", within_s=10)
    states = ear.page.locator("#transcript li").evaluate_all("items => items.map(item => item.dataset.state)")
    assert states == ["interrupted", "interrupted", "finished"]
    assert ear.complaints == []


def test_a_bad_network_is_one_click_away_and_the_charts_show_it(server, listen: Callable) -> None:
    ear = listen(server)
    ear.open("voice=tone")
    assert ear.page.is_visible("#network")
    ear.page.click("[data-preset=far]")
    ear.page.wait_for_selector("[data-preset=far][aria-pressed=true]")
    assert server.get(f"{ear.listener}/network")["down"]["delay_ms"] == 150

    with ear.page.expect_response(lambda response: response.request.method == "PUT"):
        ear.page.locator("#sliders input[name=loss]").fill("10")
    ear.page.wait_for_selector("[data-preset=far][aria-pressed=false]")
    ear.page.wait_for_selector("#presets .custom", state="visible")
    assert server.get(f"{ear.listener}/network")["down"]["loss"] == pytest.approx(0.1)
    assert server.get(f"{ear.listener}/network")["down"]["delay_ms"] == 150

    ear.page.wait_for_function("parseInt(document.querySelector('.chart:nth-child(4) .value').textContent) > 250")
    assert ear.page.locator(".chart .main-svg").count() >= 6
    assert "kb/s" in ear.page.inner_text("#plan")
    assert ear.page.inner_text("#reason").startswith("Nothing is being sent, so nothing is tried.")
    assert ear.page.inner_text(".chart:nth-child(6) .value") == "–", "an opinion of silence"
    assert ear.complaints == []


def test_another_profile_keeps_the_chosen_network(server, listen: Callable) -> None:
    ear = listen(server)
    ear.open("voice=tone")
    ear.page.click("[data-preset=bad]")
    ear.page.wait_for_selector("[data-preset=bad][aria-pressed=true]")
    with ear.page.expect_response(lambda response: response.request.method == "PUT"):
        ear.page.select_option("#profile", "narration")
    assert len(ear.listeners) == 2
    assert server.get(ear.listener)["profile"] == "narration"
    assert server.get(f"{ear.listener}/network")["preset"] == "bad"

    ear.say("one two three four five six seven eight", voice="tone")
    ear.wait("sounding", within_s=45)
    ear.page.select_option("#profile", "navigation")
    assert "(after this one)" in ear.page.inner_text("#profile-hint")
    assert len(ear.listeners) == 2, "it cut off what sounds"
    with ear.page.expect_response(lambda response: response.request.method == "PUT"):
        ear.page.click("#stop")
    assert server.get(ear.listener)["profile"] == "navigation"
    assert server.get(f"{ear.listener}/network")["preset"] == "bad"
    assert "(after this one)" not in ear.page.inner_text("#profile-hint")


def test_a_server_out_of_reach_is_said_and_asked_seldom(server, listen: Callable) -> None:
    ear = listen(server)
    ear.open("voice=tone")
    asked = []
    ear.page.on("requestfailed", lambda request: asked.append(request.url))
    ear.page.context.set_offline(True)
    ear.page.wait_for_selector("#problem-text:has-text('is legato serve running?')", timeout=3000)
    assert ear.page.is_visible("#reconnect")
    assert ear.page.is_visible("#network")
    assert "stale" in ear.page.get_attribute("body", "class")
    ear.rest(3)
    assert 1 <= len(asked) <= 4
    ear.page.context.set_offline(False)
    ear.page.wait_for_selector("#problem", state="hidden", timeout=5000)
    assert ear.page.is_hidden("#reconnect")


def test_an_outage_is_said_and_heals(server, listen: Callable) -> None:
    ear = listen(server)
    ear.open("voice=tone")
    server.ask("PUT", f"{ear.listener}/network", {"down": {"loss": 1}, "up": {"loss": 1}})
    ear.page.wait_for_selector("#state[data-state=disconnected]", timeout=8000)
    assert ear.page.is_visible("#reconnect")
    server.ask("PUT", f"{ear.listener}/network", {"preset": "clean"})
    ear.page.wait_for_selector("#state[data-state=connected]", timeout=8000)
    assert ear.page.is_hidden("#problem")
    assert ear.complaints == []


def test_a_lost_connection_is_said_and_one_click_brings_it_back(server, listen: Callable) -> None:
    ear = listen(server)
    ear.open("voice=tone")
    server.ask("DELETE", ear.listener)
    ear.page.wait_for_selector("#state[data-state=closed]")
    assert ear.page.is_visible("#problem"), "a sentence says what happened"
    assert ear.page.inner_text("#problem-text").endswith(".")
    ear.page.click("#reconnect")
    ear.page.wait_for_selector("#state[data-state=connected]")
    assert ear.page.is_hidden("#problem")
    ear.say("Back.", voice="tone")
    ear.wait("finished", within_s=10)
    assert len(ear.listeners) == 2


def test_an_empty_text_is_answered_with_a_sentence(server, listen: Callable) -> None:
    ear = listen(server)
    ear.open("voice=tone")
    ear.page.fill("#text", "   ")
    ear.page.click("#play")
    assert ear.page.inner_text("#problem-text") == "There is no text to speak: write something first."


def test_the_page_fits_a_phone(server, listen: Callable) -> None:
    ear = listen(server, **PHONE)
    ear.open("voice=tone")
    assert ear.page.evaluate("document.documentElement.scrollWidth") <= 360
    for button in ("#play", "#pause", "[data-preset=bad]", "#voice", "#examples button >> nth=0"):
        assert ear.page.locator(button).bounding_box()["height"] >= 40, f"{button} is too small for a thumb"
    assert ear.page.is_hidden("#text-hint .keys"), "a phone has no Ctrl key"
    assert ear.complaints == []
