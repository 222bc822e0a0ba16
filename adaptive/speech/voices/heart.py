"""The voice heart: hibari's distillation of Kokoro's af_heart. Network once a clause, sound chunk by chunk."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...ticks import to_ticks
from ..voice import Progress, Samples, SwitchPoint, VoiceInfo, Word
from .limits import checked_speed, checked_tier, last_frame
from .loudness import level
from .phonemes import LETTERS, SpokenWord, english
from .sessions import open_session
from .word_times import ReadWord, written_words

if TYPE_CHECKING:
    from .heart_sound import HeartSound

INFO = VoiceInfo(
    name="heart",
    languages=("en-US",),
    licence="Apache-2.0, code and weights",
    rate=24_000,
    frame_samples=300,
    tiers=("full",),
    switch=SwitchPoint.LOAD,
    summary="American woman (hibari, distilled from Kokoro). Nine times cheaper than joe, scores no worse, and free to"
    " use: Apache-2.0 throughout. One precision only.",
)

GAIN = 1.5
"""Brings active speech to about −22 dBFS; tests/adaptive/speech/voices/test_heart.py holds both voices together."""
DURATIONS = "durations"
LATE_S = 0.055
"""At speed 1 the durations say that a word begins so long after it is heard to, and at others by as much longer or
shorter as speech is. Measured: tests/adaptive/speech/voices/test_word_starts.py, and at .5, .75, 1.5 and 2 on 5
sentences; Kokoro's own package takes off 75 ms."""
EDGE = 0
"""Id before the first phoneme and after the last."""


class HeartClause:
    """A clause whose spectra are known; a `PreparedClause`."""

    def __init__(self, sound: "HeartSound | None", words: tuple[Word, ...]) -> None:
        """`sound` is None where nothing is said."""
        self.frames = sound.frames if sound is not None else 0
        self.words = words
        self._sound = sound

    def decode(self, start: int, count: int, *, tier: str, tail: int = 0) -> Samples:
        """See `PreparedClause.decode`. Equal to decoding the clause whole, to the last bits of a float32."""
        checked_tier(INFO, tier)
        stop = last_frame(self.frames, start, count, tail)
        if self._sound is None or stop == start:
            return np.zeros(0, np.float32)
        return level(self._sound.samples(start, stop), GAIN)


class HeartVoice:
    """The network and its alphabet, loaded; a `Voice`."""

    info = INFO

    def __init__(self, model: Path, alphabet: Mapping[str, int]) -> None:
        network = with_durations(model)
        self.fingerprint = hashlib.sha256(network).hexdigest()
        self._session = open_session(network)
        self._alphabet = alphabet

    def prepare(self, clause: str, *, speed: float = 1.0, seed: int = 0, tier: str | None = None) -> HeartClause:
        """See `Voice.prepare`. A clause with nothing to say has no frames. Raises ValueError for a bad speed."""
        from .heart_sound import HeartSound

        checked_speed(speed)
        read = english().read(clause)
        if not read:
            return HeartClause(None, written_words(clause, ()))
        ids, spans = self._ids(read)
        *spectra, durations = self._session.run(
            None, {"ids": np.array([ids], np.int64), "speed": np.array([speed], np.float32)}
        )
        sound = HeartSound([part[0] for part in spectra], seed=seed)
        times = _times(read, spans, durations.reshape(-1), sound.frames, LATE_S / speed)
        return HeartClause(sound, written_words(clause, times))

    def warm(self) -> None:
        """See `Voice.warm`."""
        clause = self.prepare("Warming up takes a moment.")
        clause.decode(0, clause.frames, tier=INFO.tiers[0])

    def _ids(self, read: Sequence[SpokenWord]) -> tuple[list[int], list[tuple[int, int]]]:
        """Ids of the words with spaces between them, and each word's own ids, punctuation not included."""
        ids, spans = [EDGE], []
        for number, word in enumerate(read):
            if number and word.phonemes:
                ids.append(self._alphabet[" "])
            first = last = len(ids)
            for phoneme in word.phonemes:
                if phoneme in self._alphabet:
                    first = len(ids) if first == last else first
                    ids.append(self._alphabet[phoneme])
                    last = len(ids) if LETTERS.match(phoneme) else last
            spans.append((first, last))
        return [*ids, EDGE], spans


def _times(
    read: Sequence[SpokenWord],
    spans: Sequence[tuple[int, int]],
    durations: NDArray[np.float32],
    frames: int,
    late_s: float,
) -> list[ReadWord]:
    """Durations count in their own unit, a whole number of frames."""
    seconds = INFO.frame_samples / INFO.rate * frames / durations.sum()
    ends = [to_ticks(max(0.0, end * seconds - late_s)) for end in (0.0, *np.cumsum(durations, dtype=np.float64))]
    return [
        ReadWord(text=word.text, start=ends[first], end=ends[last])
        for word, (first, last) in zip(read, spans, strict=True)
    ]


def with_durations(model: Path) -> bytes:
    """The network with one more output, `durations` [1, ids]: what it rounds them to, before it repeats its rows.

    Of hibari's and of Kokoro's. Raises ValueError for a network that rounds nothing or more than one thing.
    """
    import onnx
    from onnx import helper

    network = onnx.load(str(model))
    rounded = [node for node in network.graph.node if node.op_type == "Round"]
    if len(rounded) != 1:
        raise ValueError(f"{model.name} is no network as it is known here: its durations are not to be found.")
    (bounded,) = [node for node in network.graph.node if rounded[0].output[0] in node.input]
    network.graph.node.add(op_type="Identity", input=bounded.output[:1], output=[DURATIONS])
    network.graph.output.append(helper.make_tensor_value_info(DURATIONS, onnx.TensorProto.FLOAT, None))
    return network.SerializeToString()


def load(*, progress: Progress | None = None) -> HeartVoice:
    """Loads the voice from hibari's wheel; nothing is built."""
    from hibari.tts import ASSETS
    from hibari.voices import voice_path

    if progress is not None:
        progress("heart: loading", 0.0)
    alphabet = json.loads((Path(ASSETS) / "vocab.json").read_text(encoding="utf-8"))
    return HeartVoice(Path(voice_path(INFO.name)), alphabet)
