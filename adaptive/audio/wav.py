"""WAV files: samples into bytes and back, at a path or in any binary file object."""

import os
import wave
from contextlib import AbstractContextManager, nullcontext
from typing import IO, cast

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.float32]
Target = str | os.PathLike[str] | IO[bytes]

_FULL_SCALE = 32767


def write_wav(target: Target, samples: Samples, rate: int) -> None:
    """Writes `[n]` samples (full scale ±1, clipped there) at `rate` Hz as 16-bit mono.

    Raises OSError where the path cannot be written, ValueError for samples that are not one row.
    """
    if np.ndim(samples) != 1:
        raise ValueError(f"A WAV file is written from one row of samples, not from shape {np.shape(samples)}.")
    whole = np.rint(np.clip(samples, -1.0, 1.0) * _FULL_SCALE).astype("<i2")
    with _opened(target, "wb") as stream, wave.open(stream, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(whole.tobytes())


def read_wav(source: Target) -> tuple[Samples, int]:
    """Samples `[n]` and their rate in Hz; several channels are averaged.

    Raises OSError where the path cannot be read, ValueError for what is not a WAV file of 16-bit samples.
    """
    try:
        with _opened(source, "rb") as stream, wave.open(stream, "rb") as file:
            channels, width, rate = file.getnchannels(), file.getsampwidth(), file.getframerate()
            data = file.readframes(file.getnframes())
    except (wave.Error, EOFError) as error:
        raise ValueError(f"This is not a WAV file that can be read: {error}.") from error
    if width != 2:
        raise ValueError(f"Only WAV files of 16-bit samples are read; this one has {8 * width} bits.")
    whole = np.frombuffer(data, dtype="<i2").reshape(-1, channels)
    return (whole.mean(axis=1) / _FULL_SCALE).astype(np.float32), rate


def _opened(target: Target, mode: str) -> AbstractContextManager[IO[bytes]]:
    """A path opened; a file as it is, left open by whoever leaves the context."""
    if isinstance(target, str | os.PathLike):
        return cast(IO[bytes], open(target, mode))
    return nullcontext(target)
