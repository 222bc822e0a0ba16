"""Which carrier a page gets, and that it is said why."""

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.browser

SENT = """(() => {
  globalThis.sent = {control: [], feedback: []};
  const Native = RTCPeerConnection.prototype.createDataChannel;
  RTCPeerConnection.prototype.createDataChannel = function (label, options) {
    const channel = Native.call(this, label, options);
    const send = channel.send.bind(channel);
    channel.send = (data) => {
      if (typeof data === "string") sent[label]?.push(JSON.parse(data));
      if (!globalThis.deaf || label !== "control") send(data);
    };
    return channel;
  };
})();"""
JOIN = """async (options) => {
  const {connect} = await import("/static/legato.js");
  globalThis.told = [];
  globalThis.listener = connect({url: "/", voice: "tone", ...options});
  for (const name of ["carrier", "queued", "audible", "finished", "error"]) {
    listener.addEventListener(name, ({detail}) => told.push({name, ...detail}));
  }
  await listener.connected;
}"""


@pytest.fixture
def join(server, listen: Callable) -> Callable[..., Any]:
    """Connects in a page without controls; `before` runs there first."""

    def start(before: str = "", **options: str) -> Any:
        ear = listen(server)
        ear.page.add_init_script(SENT + before)
        ear.page.goto(f"{server.url}static/style.css")
        ear.page.evaluate(JOIN, options)
        return ear.page

    return start


def told(page: Any, name: str, count: int = 1) -> list[dict[str, Any]]:
    page.wait_for_function(
        "([name, count]) => told.filter((event) => event.name === name).length >= count", arg=[name, count]
    )
    return [event for event in page.evaluate("told") if event["name"] == name]


def test_a_browser_that_can_play_it_gets_the_data_track(join: Callable) -> None:
    page = join()
    assert told(page, "carrier") == [
        {"name": "carrier", "carrier": "data", "why": "The speech travels ahead of its time."}
    ]
    assert page.evaluate("listener.carrier") == "data"
    assert page.evaluate("listener.stream.getAudioTracks().length") == 1
    assert set(page.evaluate("listener.stats().then(({player}) => player)")) == {
        "played",
        "place",
        "concealed_ticks",
        "starved_s",
        "buffered_ms",
        "state",
    }


@pytest.mark.parametrize(
    ("before", "options", "why"),
    [
        ("", {"carrier": "audio"}, "The audio track was asked for."),
        ("delete globalThis.AudioWorkletNode;", {}, "This browser has no AudioWorklet."),
    ],
)
def test_the_audio_track_carries_where_it_must(join: Callable, before: str, options: dict, why: str) -> None:
    page = join(before, **options)
    assert told(page, "carrier") == [{"name": "carrier", "carrier": "audio", "why": why}]
    assert page.evaluate("listener.stats().then(({player}) => player)") is None
    assert page.evaluate("listener.stream === listener.audio.srcObject")


def test_a_player_that_fails_gives_way_to_the_audio_track(join: Callable) -> None:
    page = join("AudioWorklet.prototype.addModule = () => Promise.reject(new Error('no module'));")
    assert told(page, "carrier")[-1] == {
        "name": "carrier",
        "carrier": "audio",
        "why": "The player could not be loaded: no module",
    }
    page.wait_for_function("sent.control.some(({carrier}) => carrier === 'audio')")


def test_a_player_that_a_tap_does_not_wake_gives_way_to_the_audio_track(server, listen: Callable) -> None:
    page = listen(server, autoplay=False).page
    page.add_init_script('Object.defineProperty(AudioContext.prototype, "state", {get: () => "suspended"});')
    page.goto(f"{server.url}static/style.css")
    page.evaluate("addEventListener('click', async () => { globalThis.played = await listener.play(); })")
    page.evaluate(JOIN, {})
    page.evaluate("listener.say('one two three')")
    page.mouse.click(10, 10)
    page.wait_for_function("globalThis.played === true")
    assert told(page, "carrier")[-1]["why"] == "This browser holds the player's sound back, even after a tap."
    told(page, "finished")


def test_what_was_said_goes_again_until_the_server_answers(join: Callable) -> None:
    page = join()
    page.evaluate("globalThis.deaf = true")
    lost = page.evaluate("listener.say('Hello.')")
    assert told(page, "queued")[0]["id"] == lost, "what the control channel held up came over feedback"
    page.evaluate("globalThis.deaf = false")
    again = page.evaluate("listener.say('Hello again.')")
    assert told(page, "queued", 2)[1]["id"] == again
    page.wait_for_timeout(400)
    repeats = [message["say"] for message in page.evaluate("sent.feedback") if "say" in message]
    assert {"id": lost, "say": "Hello."} in repeats
    assert len(repeats) <= 3


def test_what_is_sent_ahead_before_a_tap_is_heard_from_its_beginning(server, listen: Callable) -> None:
    page = listen(server, autoplay=False).page
    # By the page itself: what playwright evaluates counts as a person's doing.
    page.add_init_script(
        f"""addEventListener("DOMContentLoaded", () => {{
          ({JOIN})({{carrier: "data"}}).then(() => {{
            listener.addEventListener("queued", () => setTimeout(() => console.info("audible", listener.audible), 900));
            listener.say("one two three");
          }});
        }});"""
    )
    with page.expect_console_message(lambda message: message.text.startswith("audible")) as said:
        page.goto(f"{server.url}static/style.css")
    assert said.value.text == "audible false"
    page.wait_for_function("listener.stats().then(({player}) => player.buffered_ms > 100)")
    page.wait_for_timeout(500)
    stats = page.evaluate("listener.stats().then(({player}) => player)")
    assert (stats["state"], stats["played"]) == ("suspended", 0)
    page.evaluate("addEventListener('click', () => listener.play())")
    page.mouse.click(10, 10)
    finished = told(page, "finished")[0]
    stats = page.evaluate("listener.stats().then(({player}) => player)")
    assert 20_000 < finished["position"] <= stats["played"] < finished["position"] + 960  # the last frame is whole
    assert (stats["concealed_ticks"], stats["starved_s"]) == (0, 0)
    assert page.evaluate("listener.audible")
