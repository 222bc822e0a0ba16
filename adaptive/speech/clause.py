"""One prepared clause on its way to 48 kHz: decoded run by run, joined, begun where speech begins, resampled."""

from math import ceil

import numpy as np

from ..audio.resampling import StreamingResampler
from ..audio.seams import join, ramp
from ..ticks import TICK_RATE
from .voice import PreparedClause, Samples, VoiceInfo, Word

SEAM_S = 0.010
"""A crossfade takes at least this long, as whole model frames."""
SILENCE = 10 ** (-48 / 20)
"""Samples below this are silence: −48 dBFS."""
KEPT_S = 0.010
"""Of the silence before speech, so that a soft onset is whole."""
EDGE_S = 0.005
"""Over which a clause rises from silence and falls to it, so that neither end clicks."""


def seam_frames(info: VoiceInfo) -> int:
    """Model frames over which one chunk fades into the next."""
    return ceil(SEAM_S * info.rate / info.frame_samples)


class ClauseStream:
    """Renders a clause front to back. The tier may differ from call to call; nothing else changes what comes out."""

    def __init__(
        self, prepared: PreparedClause, info: VoiceInfo, resampler: StreamingResampler, *, lead: int | None = None
    ) -> None:
        """`resampler`, from the voice's rate to ticks, is begun anew and must not be shared meanwhile.

        `lead` samples, at the voice's rate, are left out at the front; None leaves out the silence before speech.
        """
        self.lead = lead
        """None until speech was found."""
        self.trailing = 0
        """Ticks of silence at the end of what came out so far."""
        self._prepared = prepared
        self._info = info
        self._seam_frames = seam_frames(info)
        self._edge = ramp(round(EDGE_S * info.rate))
        self._kept = round(KEPT_S * info.rate)
        self._resampler = resampler
        self._resampler.reset()
        self._tail: Samples = np.zeros(0, dtype=np.float32)
        self._unheard: Samples = np.zeros(0, dtype=np.float32)
        self._next = 0

    @property
    def left(self) -> int:
        """Model frames still to be decoded."""
        return self._prepared.frames - self._next

    @property
    def ticks(self) -> int:
        """Its length; known once `lead` is."""
        return self._resampler.length_of(self._prepared.frames * self._info.frame_samples - (self.lead or 0))

    @property
    def words(self) -> tuple[Word, ...]:
        """In ticks from its start; known once `lead` is."""
        lead = round((self.lead or 0) * TICK_RATE / self._info.rate)
        return tuple(
            Word(
                text=word.text,
                start=min(max(word.start - lead, 0), self.ticks),
                end=min(max(word.end - lead, 0), self.ticks),
                estimated=word.estimated,
            )
            for word in self._prepared.words
        )

    def next(self, frames: int, tier: str) -> Samples:
        """The next `frames` model frames, or what is left of them, as ticks. While nothing was heard yet it is empty;
        with the last frame comes all that was held back, so that `ticks` came out in the end."""
        count = min(frames, self.left)
        decoded = self._prepared.decode(self._next, count, tier=tier, tail=self._seam_frames)
        own = count * self._info.frame_samples
        body = self._from_speech(join(self._tail, decoded[:own]))
        self._next += count
        self._tail = decoded[own:]
        if self.left:
            out = self._resampler.push(body)
        else:
            out = np.concatenate([self._resampler.push(self._fallen(body)), self._resampler.flush()])
        sounding = np.flatnonzero(np.abs(out) > SILENCE)
        self.trailing = len(out) - 1 - int(sounding[-1]) if len(sounding) else self.trailing + len(out)
        return out

    def _from_speech(self, body: Samples) -> Samples:
        """`body` without what lies before `lead`, and risen from silence where it holds the clause's beginning."""
        body = np.concatenate([self._unheard, body])
        first = self._next * self._info.frame_samples - len(self._unheard)
        if self.lead is None:
            self.lead = self._find_lead(body)
            self._unheard = body if self.lead is None else self._unheard[:0]
        if self.lead is None:
            return body[:0]
        body = body[max(0, self.lead - first) :]
        rising = self._edge[max(0, first - self.lead) :][: len(body)]
        body[: len(rising)] *= rising
        return body

    def _find_lead(self, beginning: Samples) -> int | None:
        """Where speech begins, a little before its first sample that is no silence; all of a clause that has none."""
        sounding = np.flatnonzero(np.abs(beginning) > SILENCE)
        if len(sounding):
            return max(0, int(sounding[0]) - self._kept)
        return len(beginning) if len(beginning) == self._prepared.frames * self._info.frame_samples else None

    def _fallen(self, body: Samples) -> Samples:
        """`body` fallen to silence at its end."""
        falling = self._edge[::-1][-min(len(self._edge), len(body)) :] if len(body) else body
        return np.concatenate([body[: len(body) - len(falling)], body[len(body) - len(falling) :] * falling])
