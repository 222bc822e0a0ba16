"""What is cut off falls silent at once in a real page, and what it cut into goes on at a word."""

import itertools
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sweep_voice
from bare import Bare
from numpy.typing import NDArray
from recordings import FLOOR, RATE, Samples, pitch, runs, sweep_ticks

pytestmark = [pytest.mark.browser, pytest.mark.long]

LONG = "m" * 190
SHORT = "eeeee"
"""Of the voice `tone`, which stays at 440 Hz; the voice `sweep` is above 460 Hz from 240 ms on."""
COUNT = "one two three four five six seven eight nine ten eleven twelve"
TIMES = 50
SILENT_S = 0.03
"""Between the message and the last sample rendered; what was rendered before is in the sound card's hands."""
TOLD_S, TOLD_SHARE = 0.06, 0.9
"""Told before the player answers, and what the sound card holds is heard after it; a message may be held up, too."""
TONE_HZ = 440
FADE = 240
"""Ticks."""
LOUD = 0.25
WINDOW_S = 0.03
"""Pitch is the mean over it."""
ALLOWED_S = {"data": 0.02, "audio": 0.05}
LONGEST_WORD_S = 0.45
"""With the space before it, and what leaves a sound card after the place was taken for where the story stops."""
CUT_OFF = """async ([long, short, waits]) => {
  const told = (name, id) => new Promise((resolve) =>
    listener.addEventListener(name, function take({detail}) {
      if (detail.id !== id) return;
      listener.removeEventListener(name, take);
      resolve(detail);
    }));
  const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const cuts = [];
  for (const [index, wait] of waits.entries()) {
    const id = `long ${index}`;
    const [started, said] = [told("started", id), performance.now()];
    listener.say(long, {id, voice: "sweep"});
    await started;
    await sleep(wait);
    const interrupted = told("interrupted", id);
    const asked = performance.now();
    const over = index % 2 ? told("finished", listener.interrupt(short, {voice: "tone"})) : sleep(300);
    if (index % 2 === 0) listener.stop(id);
    cuts.push({said, asked, position: (await interrupted).position});
    await over;
    await sleep(100);
  }
  return cuts;
}"""


@pytest.fixture(scope="module")
def swept(serve: Callable, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A server that also has the voice `sweep`."""
    plugins: Path = sweep_voice.installed(tmp_path_factory.mktemp("plugins"))
    return serve(plugins=plugins, voices="tone,sweep", voice="sweep")


def faded(samples: Samples) -> bool:
    """Whether what sounds falls to nothing within 5 ms at its end, without a step."""
    last = int(np.flatnonzero(np.abs(samples) > FLOOR / 10)[-1])
    peaks = np.abs(samples[last - 2 * FADE : last])
    return bool(peaks[:FADE].max() > LOUD and peaks[-FADE // 8 :].max() < LOUD / 4)


def test_fifty_interruptions_at_random_places_are_silent_at_once(swept, listen: Callable) -> None:
    bare = Bare(listen(swept), voice="sweep").join(carrier="data")
    chance = random.Random(4)
    cuts = bare.page.evaluate(CUT_OFF, [LONG, SHORT, [round(chance.uniform(250, 1500)) for _ in range(TIMES)]])
    heard, messages = bare.played(), bare.page.evaluate("played.messages")
    hertz = pitch(heard.samples)
    silent, loudspeaker, errors = [], [], []
    for index, cut in enumerate(cuts):
        before = next(m for m in reversed(messages) if m["at"] <= cut["asked"])
        arrived = next(m for m in messages if m["at"] > cut["asked"] and m["epoch"] != before["epoch"])
        place = arrived["frame"] - heard.begin
        following = round(float(heard.at(cuts[index + 1]["said"]))) if index + 1 < TIMES else len(heard.samples)
        if index % 2:
            after = hertz[place + round((SILENT_S + WINDOW_S / 2) * RATE) : following]
            assert np.nanmax(np.abs(after - TONE_HZ)) < 20, f"something old sounds after cut {index}"
            continue
        start, end = runs(heard.samples[:following])[-1]
        assert start < place, f"something old sounds after cut {index}"
        assert faded(heard.samples[:end]), f"cut {index} is no fade of 5 ms"
        silent.append((end - place) / RATE)
        loudspeaker.append((end - float(heard.at(arrived["at"]))) / RATE)
        errors.append((cut["position"] - (end - start)) / RATE)
    print(f"silent, ms after the message: {np.round(np.sort(silent) * 1000, 1)}")
    print(f"at the loudspeaker, as the browser says: {np.round(np.sort(loudspeaker) * 1000, 1)}")
    print(f"position told, ms off: {np.round(np.sort(errors) * 1000, 1)}")
    assert max(silent) <= SILENT_S
    assert np.quantile(np.abs(errors), TOLD_SHARE) <= TOLD_S


def story_around(samples: Samples, hertz: NDArray[np.float64], first: int, last: int) -> tuple[float, float]:
    """Seconds of the story where it ends and where it begins again, around what sounds from place to place."""
    place, edge, span = sweep_ticks(hertz) - np.arange(len(hertz)), round(WINDOW_S * RATE), round(0.3 * RATE)
    before, after = place[first - span : first - 2 * edge], place[last + 2 * edge : last + span]
    sounding = runs(samples)
    end = next((end for _, end in sounding if first - span < end <= first), first - edge // 2)
    begin = next((start for start, _ in sounding if last <= start < last + span), last + edge // 2)
    return float(np.nanmedian(before) + end) / RATE, float(np.nanmedian(after) + begin) / RATE


@pytest.mark.parametrize("carrier", ["data", "audio"])
def test_an_urgent_instruction_cuts_into_a_story_that_goes_on_at_a_word(swept, listen: Callable, carrier: str) -> None:
    bare = Bare(listen(swept), voice="sweep").join(carrier=carrier, profile="narration")
    bare.ear.begin()
    story = bare.say(COUNT)
    bare.reach(story, 2 * RATE)
    urgent = bare.say(SHORT, voice="tone", profile="navigation")
    bare.wait("finished", story)
    bare.ear.rest(0.3)
    samples = bare.played().samples if carrier == "data" else bare.ear.end().samples
    hertz = pitch(samples)
    told = [e for e in bare.page.evaluate("told") if e.get("event") in ("started", "paused", "resumed", "finished")]
    assert [(e["event"], e["id"]) for e in told] == [
        ("started", story),
        ("paused", story),
        ("started", urgent),
        ("finished", urgent),
        ("resumed", story),
        ("finished", story),
    ]
    instruction = np.flatnonzero((np.abs(hertz - TONE_HZ) < 10) & (np.arange(len(hertz)) > RATE))
    assert len(instruction) / RATE == pytest.approx(len(SHORT) * 0.06, abs=WINDOW_S + 0.03)
    cut, again = story_around(samples, hertz, int(instruction[0]), int(instruction[-1]))
    words = bare.told("marks", story)[0]["words"]
    borders = [(before["end"] / RATE, word["start"] / RATE) for before, word in itertools.pairwise(words)]
    print(f"{carrier}: cut at {cut:.3f} s, goes on at {again:.3f} s; words end and begin at {borders}")
    assert any(end - ALLOWED_S[carrier] <= again <= begin + ALLOWED_S[carrier] for end, begin in borders)
    assert -ALLOWED_S[carrier] <= cut - again < LONGEST_WORD_S
    spoken = [e["text"] for e in bare.told("word", story)]
    assert list(dict.fromkeys(spoken)) == COUNT.split()
