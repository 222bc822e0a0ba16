"""What a listener got, second by second, and what that is worth: the same scale for every contender.

A second of hearing is worth the opinion expected of what was coded, of the share that was made up, and of the delay;
one that is mostly silent, or whose speech was lost, is worth 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from adaptive.control.opinion import expected
from adaptive.ticks import TICK_RATE

from .receiver import STEP, STEP_S, Kind
from .sender import Sent

Pauses = Sequence[tuple[float, float]]

WORST = 1.0
SILENT_SHARE = 0.5
"""Of a second: from there on it counts as silent or lost."""
FEC_PRIMARY = 0.55
"""Share of the bitrate that is left for the speech itself while in-band copies travel with it."""
FIRST_S = 0.5
"""After its sending the first speech is waited for without being missed."""
LOST_RUN_S = 0.1
"""Never played in one piece: from there on it is lost speech; shorter holes are made up so that the words remain."""


@dataclass(frozen=True, kw_only=True)
class Second:
    """One second of hearing."""

    at_s: float
    """Since the speech began to be heard."""
    opinion: float
    concealed: float
    silent: float
    """Shares of the second."""
    delay_ms: float | None
    """From leaving to sounding; None where nothing was played."""
    wire_kbps: float = 0.0
    capacity_kbps: float | None = None
    queue_ms: float | None = None
    loss: float | None = None
    """Share of the packets offered to the link in this second that it dropped."""
    rung: str = ""
    protection: str = ""
    tier: str = ""


class _Tally:
    """The steps of one second."""

    def __init__(self) -> None:
        self.played: dict[Sent, int] = {}
        self.made_up = self.muted = self.runs = 0
        self.skipped_s = self.saved_s = self.delay_s = 0.0

    def opinion(self, concealed: float, silent: float, delay_s: float) -> float:
        steps = sum(self.played.values())
        if silent >= SILENT_SHARE or not steps:
            return WORST
        made_up = self.made_up + self.muted
        total = 0.0
        for sent, share in self.played.items():
            frames = made_up * STEP_S * 1000 / sent.rung.frame_ms / self.runs if self.runs else 1.0
            rung = replace(sent.rung, bitrate=round(sent.rung.bitrate * FEC_PRIMARY)) if sent.fec else sent.rung
            total += share * expected(rung, loss=concealed, burst=max(1.0, frames), delay_s=delay_s)
        return total / steps


class Hearing:
    """Counts what comes out of a receiver while speech is expected."""

    def __init__(self, *, start: float, seconds: int, frames: dict[int, Sent]) -> None:
        """`start`: when the speech begins to leave; `frames`: how each was made, filled while the speech is sent."""
        self._start = start
        self._seconds = seconds
        self._end_tick = round((start + seconds) * TICK_RATE)
        self._frames = frames
        self._tallies = [_Tally() for _ in range(seconds)]
        self._in_run = False
        self._merged = 0
        self._last: int | None = None
        self.origin: float | None = None
        """When the speech was first heard."""

    def step(self, now: float, kind: Kind, *, position: int | None, playing: int | None, merged: int) -> None:
        """10 ms. `position`: RTP time of the sample after them; `playing`: of the frame; `merged`: ticks so far that
        the receiver made up in vain."""
        heard = kind is Kind.PLAYED and playing is not None and playing in self._frames
        if self.origin is None:
            if not heard and now < self._start + FIRST_S:
                return
            self.origin = now
        place = int(now - self.origin)
        done = position is not None and position > self._end_tick - STEP and not heard
        if place >= self._seconds or done:
            return
        tally = self._tallies[place]
        tally.saved_s += (merged - self._merged) / TICK_RATE
        self._merged = merged
        if heard and playing is not None and position is not None:
            self._heard(tally, now, position, playing)
            return
        tally.runs += not self._in_run
        self._in_run = True
        if kind is Kind.CONCEALED:
            tally.made_up += 1
        else:
            tally.muted += 1

    def _heard(self, tally: _Tally, now: float, position: int, playing: int) -> None:
        self._in_run = False
        sent = self._frames[playing]
        tally.played[sent] = tally.played.get(sent, 0) + 1
        tally.delay_s += now - (position - STEP) / TICK_RATE

    def rows(self) -> list[Second]:
        """The seconds heard, without what the network did."""
        rows = []
        for place, tally in enumerate(self._tallies):
            steps = sum(tally.played.values())
            made_up = tally.made_up + tally.muted
            silent = tally.muted * STEP_S
            share = max(0.0, made_up - tally.saved_s / STEP_S) / (steps + made_up) if steps + made_up else 1.0
            if self.origin is None:
                share = silent = 1.0
            delay_s = tally.delay_s / steps if steps else None
            opinion = tally.opinion(share, silent, delay_s or 0.0)
            rows.append(
                Second(
                    at_s=place,
                    opinion=opinion,
                    concealed=share,
                    silent=silent,
                    delay_ms=None if delay_s is None else delay_s * 1000,
                )
            )
        return rows


def never_played_s(frames: dict[int, Sent], decoded: set[int], pauses: Pauses = ()) -> tuple[float, float]:
    """Seconds of speech in runs that were never played, and seconds of the speech's own pauses in such runs.

    `frames` by RTP time, in their order, the first at the start of the speech; `pauses` from and to, since then.
    """
    start = next(iter(frames), 0)
    lost = quiet = run = paused = 0.0
    for timestamp, sent in [*frames.items(), (None, None)]:
        if timestamp is None or sent is None or timestamp in decoded:
            if run + paused >= LOST_RUN_S:
                lost, quiet = lost + run, quiet + paused
            run = paused = 0.0
            continue
        at_s, length_s = (timestamp - start) / TICK_RATE, sent.rung.frame_ms / 1000
        if any(since <= at_s < until for since, until in pauses):
            paused += length_s
        else:
            run += length_s
    return lost, quiet


def summary(rows: list[Second]) -> dict[str, Any]:
    """Over all seconds."""
    opinions = sorted(row.opinion for row in rows)
    delays = [row.delay_ms for row in rows if row.delay_ms is not None]
    return {
        "mean_opinion": round(sum(opinions) / len(opinions), 3),
        "p10_opinion": round(opinions[int(0.1 * (len(opinions) - 1))], 3),
        "silence_added_s": round(sum(row.silent for row in rows), 2),
        "concealed_share": round(sum(row.concealed for row in rows) / len(rows), 4),
        "mean_delay_ms": round(sum(delays) / len(delays), 1) if delays else None,
    }
