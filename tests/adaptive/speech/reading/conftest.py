"""Readers, loaded once."""

import pytest

from adaptive.speech.reading.english import EnglishReading
from adaptive.speech.voices.phonemes import english


@pytest.fixture(scope="session")
def reading() -> EnglishReading:
    return english().reading
