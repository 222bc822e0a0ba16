"""One prepared clause on its way to 48 kHz: decoded run by run, joined, begun where speech begins, resampled."""

from math import ceil, floor

import numpy as np

from ..audio.resampling import StreamingResampler
from ..audio.seams import join, ramp
from ..ticks import TICK_RATE
from .voice import PreparedClause, Samples, VoiceInfo, Word

SEAM_S = 0.010
"""A crossfade takes at least this long, as whole model frames."""
SILENCE, WINDOW_S = 10 ** (-50 / 20), 0.005
"""Stretches of 5 ms whose root mean square is below −50 dBFS are silence. In a pause the rounding noise of a low tier
is at −54, with single samples at −42 (measured: joe, light)."""
KEPT_S = 0.005
"""Of the silence before speech, in which it rises."""
EARLY_S = 0.080
"""Speech may begin so long before the model's own durations say that its first word does, and at lower speeds longer by
the square of that; what lies before is not decoded. Measured on 30 texts: at most 35 ms for joe at any speed; 54 for
heart, 77 at three quarters of the speed, 208 at half of it, 721 at a quarter."""
EDGE_S = 0.005
"""Over which a clause rises from silence and falls to it, so that neither end clicks."""


def seam_frames(info: VoiceInfo) -> int:
    """Model frames over which one chunk fades into the next."""
    return ceil(SEAM_S * info.rate / info.frame_samples)


class ClauseStream:
    """Renders a clause front to back. The tier may differ from call to call; nothing else changes what comes out."""

    def __init__(
        self,
        prepared: PreparedClause,
        info: VoiceInfo,
        resampler: StreamingResampler,
        *,
        speed: float = 1.0,
        skipped: int | None = None,
        lead: int | None = None,
    ) -> None:
        """`resampler`, from the voice's rate to ticks, is begun anew and must not be shared meanwhile.

        `speed` is that at which it was prepared. The first `skipped` model frames are not decoded; None skips those
        that are silent for certain. `lead` samples, at the voice's rate, are left out at the front; None leaves out the
        silence before speech.
        """
        self.lead = lead
        """None until speech was found."""
        self.trailing = 0
        """Ticks of silence at the end of what came out so far."""
        self._prepared = prepared
        self._info = info
        self._speech_at = _speech_at(prepared, info)
        early_s = EARLY_S / min(1.0, speed) ** 2
        self.skipped = max(0, floor(self._speech_at - early_s * info.rate / info.frame_samples))
        if skipped is not None:
            self.skipped = skipped
        self._seam_frames = seam_frames(info)
        self._edge = ramp(round(EDGE_S * info.rate))
        self._kept = round(KEPT_S * info.rate)
        self._resampler = resampler
        self._resampler.reset()
        self._tail: Samples = np.zeros(0, dtype=np.float32)
        self._unheard: Samples = np.zeros(0, dtype=np.float32)
        self._next = self.skipped

    @property
    def silent(self) -> int:
        """Model frames from here on that come before speech by the model's own durations; 0 where it does not say."""
        return max(0, ceil(self._speech_at) - self._next) if self.lead is None else 0

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
        sounding = _sounding(out, TICK_RATE)
        self.trailing = len(out) - sounding[1] if sounding else self.trailing + len(out)
        return out

    def _from_speech(self, body: Samples) -> Samples:
        """`body` without what lies before `lead`, and risen from silence where it holds the clause's beginning."""
        body = np.concatenate([self._unheard, body])
        first = self._next * self._info.frame_samples - len(self._unheard)
        if self.lead is None:
            self.lead = self._find_lead(first, body)
            self._unheard = body if self.lead is None else self._unheard[:0]
        if self.lead is None:
            return body[:0]
        body = body[max(0, self.lead - first) :]
        rising = self._edge[max(0, first - self.lead) :][: len(body)]
        body[: len(rising)] *= rising
        return body

    def _find_lead(self, first: int, beginning: Samples) -> int | None:
        """Where speech begins, a little before what is no silence any more; all of a clause that has nothing else.
        `beginning` is what there is from the clause's sample `first` on."""
        sounding = _sounding(beginning, self._info.rate)
        if sounding:
            return first + max(0, sounding[0] - self._kept)
        end = first + len(beginning)
        return end if end == self._prepared.frames * self._info.frame_samples else None

    def _fallen(self, body: Samples) -> Samples:
        """`body` fallen to silence at its end."""
        falling = self._edge[::-1][-min(len(self._edge), len(body)) :] if len(body) else body
        return np.concatenate([body[: len(body) - len(falling)], body[len(body) - len(falling) :] * falling])


def _sounding(samples: Samples, rate: int) -> tuple[int, int] | None:
    """From where to where, in samples, there is anything but silence; None where there is nothing else."""
    window = min(len(samples), round(WINDOW_S * rate))
    power = np.concatenate([[0.0], np.cumsum(np.square(samples, dtype=np.float64))])
    loud = np.flatnonzero(power[window:] - power[: len(power) - window] > window * SILENCE**2)
    if not len(loud):
        return None
    first, last = int(loud[0]), int(loud[-1])
    begins = np.flatnonzero(np.abs(samples[first : first + window]) > SILENCE)[0]
    ends = np.flatnonzero(np.abs(samples[last : last + window]) > SILENCE)[-1]
    return first + int(begins), last + int(ends) + 1


def _speech_at(prepared: PreparedClause, info: VoiceInfo) -> float:
    """Model frame in which the first word begins by the model's own durations; 0 where it does not say."""
    first = prepared.words[0] if prepared.words else None
    if first is None or first.estimated:
        return 0.0
    return first.start * info.rate / TICK_RATE / info.frame_samples
