"""One run: connect, let the network be bad for five seconds, speak, listen to the end."""

import base64
import time
from typing import Any

import numpy as np

from adaptive.speech.voice import Samples
from adaptive.ticks import TICK_RATE
from quality.lab.scenarios import DIRECTIONS, LEAD_IN_S, Scenario
from quality.lab.settings import LinkSettings
from quality.lab.tun import TunRig

from .cpu import Idle
from .drops import changes
from .senders import Sender, SenderName
from .stage import Stage
from .taken import Taken

SLICE_S = 0.5
"""Between two looks at the processors."""
QUIET_S = 1.0
"""Silence after which the speech is over."""
AFTER_S = 1.0
"""At least, after the clip or the scenario has come to its end."""
MOST_TAIL_S = 6.0
"""At most: a receiver's buffer and a full queue are empty by then."""


class Network:
    """A scenario at work on a rig. `t` is seconds from the start of the speech."""

    def __init__(self, rig: TunRig, scenario: Scenario, seed: int) -> None:
        self._rig, self._scenario, self._seed = rig, scenario, seed
        self._now: dict[str, LinkSettings] = {}
        times = {step.at_s for step in scenario.steps} | {0.0}
        self._times = sorted(times)
        rig.restart(seed)
        self._apply(float("-inf"))

    def until(self, t: float) -> None:
        """Does what is due by `t`."""
        while self._times and self._times[0] <= t:
            self._apply(self._times.pop(0))

    def calm(self) -> None:
        """As before the first step, so that goodbyes get through."""
        self._apply(float("-inf"))

    @property
    def next_time(self) -> float | None:
        """When something is due."""
        return self._times[0] if self._times else None

    def _apply(self, t: float) -> None:
        for direction in DIRECTIONS:
            before, after = self._now.get(direction), self._scenario.settings(direction, t)
            told = changes(before, after, f"{self._seed} {direction}")
            if t == 0 and 0 < after.loss < 1:
                told |= changes(None, after, f"{self._seed} {direction} speech")
            if told:
                self._rig.set(direction, **told)
            self._now[direction] = after


def run(stage: Stage, name: SenderName, scenario: Scenario, seed: int, *, clip_s: float) -> Taken:
    """Takes about 20 s. Raises RuntimeError where something does not work, and playwright's errors."""
    sender = stage.sender(name)
    network = Network(stage.rig, scenario, seed)
    try:
        page = sender.connect()
        return _listen(stage, sender, page, network, name, scenario, seed, clip_s)
    finally:
        network.calm()
        sender.leave()


def _listen(
    stage: Stage,
    sender: Sender,
    page: Any,
    network: Network,
    name: SenderName,
    scenario: Scenario,
    seed: int,
    clip_s: float,
) -> Taken:
    network.until(-LEAD_IN_S)
    time.sleep(LEAD_IN_S)
    network.until(0)
    idle = Idle()
    spoken_at = sender.go()
    late_s = 0.0
    ends_s = max([clip_s, *(step.at_s for step in scenario.steps)]) + AFTER_S
    while (t := time.time() - spoken_at) < ends_s:
        network.until(t)
        due = min(t + SLICE_S, ends_s, network.next_time or ends_s)
        time.sleep(max(0.0, due - t))
        late_s = max(late_s, time.time() - spoken_at - due)
        if t < clip_s:
            idle.stretch()
    while time.time() - spoken_at < ends_s + MOST_TAIL_S and not page.evaluate(f"ear.quiet({QUIET_S})"):
        time.sleep(0.25)
    ended = page.evaluate("ear.end()")
    if ended["failure"]:
        raise RuntimeError(f"the listener of {name.text} could not record: {ended['failure']}")
    heard, slip = recording(ended, spoken_at)
    if len(heard) < clip_s * TICK_RATE:
        raise RuntimeError("the recording is shorter than the speech: this machine stood still, or its clock was set")
    origin = spoken_at - (time.time() - time.monotonic())
    wire = stage.rig.wire()
    return Taken(
        sender=name.text,
        scenario=scenario.name,
        seed=seed,
        heard=heard,
        slip=slip,
        ticks=[{**tick, "at": tick["at"] / 1000 - spoken_at} for tick in ended["ticks"]],
        wire={way: [[(at or 0.0) - origin, *rest] for at, *rest in packets] for way, packets in wire.items()},
        speech=[[at - origin, int(arrived)] for at, _, _, _, arrived in stage.rig.packets()["down"]],
        queue_max_ms=stage.rig.stats()["down"]["queue_delay_max_ms"],
        late_s=late_s,
        idle=idle.share,
        idle_lowest=idle.lowest,
        told=sender.told(spoken_at),
        browser=stage.listener.version,
    )


def recording(ended: dict[str, Any], spoken_at: float) -> tuple[Samples, float | None]:
    """The samples from `spoken_at` (seconds since 1970) on, and how much faster than the wall clock they came.

    The page says when each block ended, by the count of the audio context, and when it arrived. The promptest block
    ties the one to the other; those of the first and the last third tell the speed.
    """
    blocks = np.frombuffer(base64.b64decode(ended["samples"]), np.float32)
    ends, arrivals = np.asarray(ended["ends"], float), np.asarray(ended["arrivals"]) / 1000
    if len(ends) < 6:
        raise RuntimeError("less than a second was recorded")
    size = len(blocks) // len(ends)
    lateness = arrivals - ends / TICK_RATE
    third = len(ends) // 3
    first, last = int(np.argmin(lateness[:third])), len(ends) - third + int(np.argmin(lateness[-third:]))
    slip = (ends[last] - ends[first]) / TICK_RATE / (arrivals[last] - arrivals[first]) - 1
    begin = round((spoken_at - float(lateness.min())) * TICK_RATE)
    heard = np.zeros(max(0, int(ends[-1]) - begin), np.float32)
    for end, block in zip(ends.astype(int), blocks.reshape(-1, size), strict=True):
        at = end - size - begin
        if at + size > 0:
            heard[max(0, at) : at + size] = block[max(0, -at) :]
    return heard, float(slip)
