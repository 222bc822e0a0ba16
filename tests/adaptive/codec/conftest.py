import numpy as np
import pytest


@pytest.fixture(scope="session")
def speech() -> np.ndarray:
    """Six seconds that an encoder takes for speech: a gliding voice of 60 harmonics, syllables, noise between them."""
    rate, seconds = 48_000, 6
    t = np.arange(rate * seconds) / rate
    phase = np.cumsum(2 * np.pi * (120 + 20 * np.sin(2 * np.pi * 0.7 * t)) / rate)
    voice = sum(np.sin(k * phase) / k for k in range(1, 60))
    envelope = 0.5 + 0.5 * np.sin(2 * np.pi * 3 * t)
    noise = np.random.default_rng(0).standard_normal(len(t))
    return (0.1 * voice * envelope + 0.02 * noise * (1 - envelope)).astype(np.float32)
