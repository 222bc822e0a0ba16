"""Real voices, loaded once for all tests of this folder; joe's files are built on first use and kept in the cache."""

import numpy as np
import pytest
from numpy.typing import NDArray

from adaptive.speech.voices import heart as heart_module
from adaptive.speech.voices import joe as joe_module
from adaptive.speech.voices.heart import HeartVoice
from adaptive.speech.voices.vits import VitsVoice


@pytest.fixture(scope="session")
def joe() -> VitsVoice:
    return joe_module.load()


@pytest.fixture(scope="session")
def heart() -> HeartVoice:
    return heart_module.load()


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20)


@pytest.fixture
def cut(rng: np.random.Generator):
    """Cuts a clause at random places and joins the pieces, their tails left out."""

    def pieces(prepared, tier: str, hop: int, longest: int) -> NDArray[np.float32]:
        found, start = [], 0
        while start < prepared.frames:
            count = min(int(rng.integers(1, longest + 1)), prepared.frames - start)
            tail = int(rng.integers(0, 4))
            decoded = prepared.decode(start, count, tier=tier, tail=tail)
            assert len(decoded) == (count + min(tail, prepared.frames - start - count)) * hop
            assert decoded.dtype == np.float32
            found.append(decoded[: count * hop])
            start += count
        return np.concatenate(found)

    return pieces
