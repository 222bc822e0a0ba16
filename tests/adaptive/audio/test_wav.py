"""Samples into WAV bytes and back."""

import io
import wave
from pathlib import Path

import numpy as np
import pytest

from adaptive.audio import read_wav, write_wav


def test_a_file_comes_back_to_within_half_a_step(tmp_path: Path) -> None:
    samples = np.linspace(-1, 1, 999, dtype=np.float32)
    write_wav(tmp_path / "a.wav", samples, 48_000)
    got, rate = read_wav(tmp_path / "a.wav")
    assert rate == 48_000
    np.testing.assert_allclose(got, samples, atol=0.51 / 32767)


def test_bytes_work_like_a_file_and_are_clipped_not_wrapped() -> None:
    buffer = io.BytesIO()
    write_wav(buffer, np.array([2.0, -2.0], dtype=np.float32), 8_000)
    buffer.seek(0)
    got, rate = read_wav(buffer)
    assert rate == 8_000
    np.testing.assert_allclose(got, [1, -1])


def test_other_tools_read_it(tmp_path: Path) -> None:
    write_wav(str(tmp_path / "a.wav"), np.zeros(100, dtype=np.float32), 24_000)
    with wave.open(str(tmp_path / "a.wav")) as file:
        assert file.getparams()[:4] == (1, 2, 24_000, 100)


def test_more_than_one_row_is_refused() -> None:
    with pytest.raises(ValueError, match="one row"):
        write_wav(io.BytesIO(), np.zeros((2, 9), dtype=np.float32), 48_000)


def test_what_is_no_wav_file_is_refused_with_a_sentence() -> None:
    with pytest.raises(ValueError, match="not a WAV file"):
        read_wav(io.BytesIO(b"noise" * 20))


def test_other_widths_are_refused() -> None:
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(1)
        file.setframerate(8_000)
        file.writeframes(bytes(10))
    buffer.seek(0)
    with pytest.raises(ValueError, match="8 bits"):
        read_wav(buffer)
