"""What stands in a Piper voice's `.onnx.json`. Source: Piper's own voices (github.com/OHF-Voice/piper1-gpl, VOICES)."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .piper_ids import END, PAD, START

ESPEAK, TEXT = "espeak", "text"
"""Kinds of phonemes: espeak's alphabet, or the letters of the text themselves."""


@dataclass(frozen=True, kw_only=True)
class PiperConfig:
    """A voice's."""

    rate: int
    """Hz."""
    noise_scale: float
    noise_w: float
    phoneme_ids: Mapping[str, Sequence[int]]
    phoneme_type: str
    language: str
    """BCP 47."""
    espeak_voice: str
    """As espeak names the language."""
    speakers: int
    speaker_ids: Mapping[str, int]
    """By name, where speakers have names."""

    @classmethod
    def load(cls, path: Path) -> "PiperConfig":
        """Raises ValueError, with what is missing, for a file that is no Piper configuration."""
        try:
            told = json.loads(path.read_text(encoding="utf-8"))
            return cls._read(told)
        except KeyError as error:
            raise ValueError(f"{path.name} is not a Piper configuration: it has no {error}.") from None
        except (ValueError, TypeError, AttributeError) as error:
            raise ValueError(f"{path.name} is not a Piper configuration: {error}.") from None

    @classmethod
    def _read(cls, told: Any) -> "PiperConfig":
        ids = {str(symbol): [int(number) for number in numbers] for symbol, numbers in told["phoneme_id_map"].items()}
        for symbol in (START, END, PAD):
            if not ids.get(symbol):
                raise KeyError(f"id for {symbol!r} in its phoneme_id_map")
        espeak_voice = str(told.get("espeak", {}).get("voice", ""))
        return cls(
            rate=int(told["audio"]["sample_rate"]),
            noise_scale=float(told["inference"]["noise_scale"]),
            noise_w=float(told["inference"]["noise_w"]),
            phoneme_ids=ids,
            phoneme_type=str(told.get("phoneme_type") or ESPEAK),
            language=str(told.get("language", {}).get("code") or espeak_voice or "und").replace("_", "-"),
            espeak_voice=espeak_voice,
            speakers=int(told.get("num_speakers") or 1),
            speaker_ids={str(name): int(number) for name, number in (told.get("speaker_id_map") or {}).items()},
        )

    def speaker(self, asked: str | None) -> int:
        """The number of a speaker by name or number; the first where nobody asked. Raises ValueError for another."""
        if asked is None:
            return 0
        number = self.speaker_ids.get(asked, int(asked) if asked.isdecimal() else -1)
        if not 0 <= number < self.speakers:
            names = ", ".join(self.speaker_ids) or f"0 to {self.speakers - 1}"
            raise ValueError(f"This voice has no speaker {asked!r}; it has {names}.")
        return number
