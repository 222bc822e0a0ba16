"""Speaks with a Piper VITS model that was cut in three: encoder once a clause, flow and decoder chunk by chunk.

The flow runs no further than the chunk at hand needs, so that a long clause does not delay its first sound.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...ticks import to_ticks
from ..voice import Samples, VoiceInfo, Word
from .limits import checked_speed, checked_tier, last_frame, seed_words
from .loudness import level
from .phonemes import SpokenWord
from .piper_ids import PiperText, piper_text
from .sessions import open_session
from .vits_layout import ENCODER, FLOW, Layout, TierFile
from .word_times import ReadWord, written_words

if TYPE_CHECKING:
    import onnxruntime

FLOW_BLOCK = 160
"""Frames that the flow runs at least at a time once so many are known, and as many as are known before that: every run
computes 2 × 32 of context too, and the second chunk of all is waited for while the first one sounds."""

Matrix = NDArray[np.float32]
"""[channels, frames]."""
Read = Callable[[str], Sequence[SpokenWord]]
Network = Callable[[Mapping[str, NDArray[Any]]], list[NDArray[Any]]]
"""Inputs by name → outputs in order."""


class _Network:
    """One part of the model, with the speaker given where it asks for one."""

    def __init__(self, path: Path, speaker: int) -> None:
        self._session: onnxruntime.InferenceSession = open_session(path)
        self.inputs = frozenset(given.name for given in self._session.get_inputs())
        self._always = {"sid": np.array([speaker], np.int64)} if "sid" in self.inputs else {}

    def __call__(self, inputs: Mapping[str, NDArray[Any]]) -> list[NDArray[Any]]:
        return self._session.run(None, {**inputs, **self._always})


def _decoder(directory: Path, tier: TierFile, speaker: int, device: str) -> Network:
    if tier.precision is None:
        return _Network(directory / tier.file, speaker)
    from .vits_torch import TorchNetwork

    return TorchNetwork(directory / tier.file, speaker, precision=tier.precision, device=device)


class VitsClause:
    """A clause whose latents are known; a `PreparedClause`."""

    def __init__(self, voice: "VitsVoice", latent: Matrix, words: tuple[Word, ...]) -> None:
        self.frames = latent.shape[1]
        self.words = words
        self._voice = voice
        self._latent = latent
        self._z = np.empty_like(latent)
        self._flowed = 0, 0
        """The frames of which `_z` is known, from the first to the one behind the last."""

    def decode(self, start: int, count: int, *, tier: str, tail: int = 0) -> Samples:
        """See `PreparedClause.decode`. Equal to decoding the clause whole within 1e-5 at `full`."""
        context = self._voice.context(tier)
        stop = last_frame(self.frames, start, count, tail)
        if stop == start:
            return np.zeros(0, np.float32)
        first, last = max(0, start - context), min(self.frames, stop + context)
        hop = self._voice.info.frame_samples
        samples = self._voice.vocode(self.z(first, last), tier)
        return samples[(start - first) * hop : (stop - first) * hop]

    def z(self, start: int, end: int) -> Matrix:
        """What the decoder makes sound of. The flow runs where it has not yet, seeing its context."""
        first, last = self._flowed
        if first == last:
            self._run_flow(start, end)
            self._flowed = start, end
            return self._z[:, start:end]
        if start < first:
            self._run_flow(start, first)
            first = start
        if end > last:
            until = min(self.frames, max(end, last + min(last - first, FLOW_BLOCK)))
            self._run_flow(last, until)
            last = until
        self._flowed = first, last
        return self._z[:, start:end]

    def _run_flow(self, start: int, end: int) -> None:
        self._z[:, start:end] = self._voice.flow(self._latent, start, end)


class VitsVoice:
    """A Piper voice whose files were built by `piper_files.build`; a `Voice`."""

    def __init__(
        self,
        info: VoiceInfo,
        directory: Path,
        *,
        read: Read,
        gain: float = 1.0,
        speaker: int = 0,
        tiers: Mapping[str, TierFile] | None = None,
        device: str = "cpu",
    ) -> None:
        """Loads all parts and `tiers` from `directory`; None is the tiers that were built. `read` turns a clause into
        phonemes, `gain` sets the loudness, `device` is where torch computes those tiers that are its."""
        self.info = info
        self.fingerprint = self.fingerprint_of(directory, speaker=speaker, gain=gain, device=device)
        self._layout = Layout.load(directory)
        self._tiers = dict(self._layout.tiers if tiers is None else tiers)
        self._read = read
        self._gain = gain
        self._encoder = _Network(directory / ENCODER, speaker)
        self._flow = _Network(directory / FLOW, speaker)
        self._decoders = {name: _decoder(directory, tier, speaker, device) for name, tier in self._tiers.items()}

    @staticmethod
    def fingerprint_of(directory: Path, *, speaker: int, gain: float, device: str) -> str:
        """What changes whenever the samples would."""
        return f"{directory.name}/{speaker}/{gain}" + ("" if device == "cpu" else f"/{device}")

    def leave_out(self, tiers: Iterable[str]) -> None:
        """Lets go of tiers; the first of those that stay is the voice's best from now on."""
        for tier in tiers:
            del self._tiers[tier], self._decoders[tier]
        self.info = replace(self.info, tiers=tuple(self._tiers))

    def prepare(self, clause: str, *, speed: float = 1.0, seed: int = 0, tier: str | None = None) -> VitsClause:
        """See `Voice.prepare`. A clause with nothing to say has no frames. Raises ValueError for a bad speed."""
        checked_speed(speed)
        read = self._read(clause)
        if not read:
            words = written_words(clause, ())
            return VitsClause(self, np.zeros((self._layout.channels, 0), np.float32), words)
        text = piper_text(read, self._layout.phoneme_ids)
        duration_noise, frame_noise = (np.random.default_rng(seed_words(seed, part)) for part in range(2))
        mean, log_deviation, durations = self._encode(text, speed, duration_noise)
        deviation = np.exp(log_deviation) * np.float32(self._layout.noise_scale)
        latent = np.repeat(mean, durations, axis=1)
        # Frame by frame, so that the noise of a frame is the same however many follow.
        noise = frame_noise.standard_normal(latent.shape[::-1], np.float32).T
        latent += np.repeat(deviation, durations, axis=1) * noise
        return VitsClause(self, latent, written_words(clause, self._times(read, text, durations)))

    def warm(self) -> None:
        """See `Voice.warm`."""
        clause = self.prepare("Warming up takes a moment.")
        for tier in self.info.tiers:
            clause.decode(0, min(8, clause.frames), tier=tier)

    def context(self, tier: str) -> int:
        """Frames decoded on each side of those asked for. Raises ValueError for a tier the voice does not have."""
        return self._tiers[checked_tier(self.info, tier)].context

    def flow(self, latent: Matrix, start: int, end: int) -> Matrix:
        """`z` of the frames `start` to `end`."""
        first, last = max(0, start - self._layout.flow_context), min(latent.shape[1], end + self._layout.flow_context)
        mask = np.ones((1, 1, last - first), np.float32)
        (z,) = self._flow({"latent": np.ascontiguousarray(latent[None, :, first:last]), "mask": mask})
        return z[0, :, start - first : end - first]

    def vocode(self, z: Matrix, tier: str) -> Samples:
        """Samples of these frames, wrong at both ends as far as the context reaches."""
        (samples,) = self._decoders[tier]({"z": np.ascontiguousarray(z[None])})
        return level(samples.reshape(-1), self._gain)

    def _encode(
        self, text: PiperText, speed: float, noise: np.random.Generator
    ) -> tuple[Matrix, Matrix, NDArray[np.int64]]:
        count = len(text.ids)
        inputs: dict[str, NDArray[Any]] = {
            "input": np.array([text.ids], np.int64),
            "input_lengths": np.array([count], np.int64),
            "scales": np.array([self._layout.noise_scale, 1 / speed, self._layout.noise_w], np.float32),
        }
        if "duration_noise" in self._encoder.inputs:
            inputs["duration_noise"] = noise.standard_normal((1, 2, count), np.float32)
        mean, log_deviation, durations = self._encoder(inputs)
        return mean[0], log_deviation[0], durations.reshape(-1).astype(np.int64)

    def _times(self, read: Sequence[SpokenWord], text: PiperText, durations: NDArray[np.int64]) -> list[ReadWord]:
        ends = np.concatenate([[0], np.cumsum(durations)]) * self.info.frame_samples / self.info.rate
        ticks = [to_ticks(seconds) for seconds in ends]
        return [
            ReadWord(text=word.text, start=ticks[first], end=ticks[last])
            for word, (first, last) in zip(read, text.spans, strict=True)
        ]
