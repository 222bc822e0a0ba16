"""The voice kumo: Mandarin, and English among it, a clause at a time."""

import numpy as np
import pytest

from adaptive.speech.voices import kumo
from adaptive.speech.voices.kumo import INFO, MOST_TOKENS, KumoVoice

pytestmark = pytest.mark.voices


@pytest.fixture(scope="module")
def voice() -> KumoVoice:
    return kumo.load()


def test_says_each_word_at_its_time_as_loud_as_the_others(voice: KumoVoice) -> None:
    clause = voice.prepare("前方右转，打开 Bluetooth 设置。")
    assert [word.text for word in clause.words] == ["前方", "右转，", "打开", "Bluetooth", "设置。"]
    assert not any(word.estimated for word in clause.words)
    samples = clause.decode(0, clause.frames, tier="full")
    assert len(samples) == clause.frames * INFO.frame_samples
    assert 1.5 < len(samples) / INFO.rate < 5
    levels = []
    for word in clause.words:
        own = samples[word.start // 2 : word.end // 2]
        levels.append(20 * np.log10(np.sqrt(np.mean(own**2)) + 1e-9))
    assert all(level > -40 for level in levels)
    sounding = samples[np.abs(samples) > 10 ** (-40 / 20)]
    assert -25 < 20 * np.log10(np.sqrt(np.mean(sounding**2))) < -17


def test_the_same_text_gives_the_same_samples_and_speed_is_the_models_own(voice: KumoVoice) -> None:
    first, again, fast = voice.prepare("你好。"), voice.prepare("你好。"), voice.prepare("你好。", speed=2.0)
    assert np.array_equal(first.decode(0, first.frames, tier="full"), again.decode(0, again.frames, tier="full"))
    assert 0.4 < fast.frames / first.frames < 0.75


def test_nothing_to_say_has_no_frames(voice: KumoVoice) -> None:
    assert voice.prepare("……").frames == 0


def test_a_clause_beyond_what_the_network_takes_is_said_in_runs(voice: KumoVoice) -> None:
    from adaptive.speech.voices.mandarin import mandarin

    read = mandarin().read("我们一起去公园散步" * 25)
    runs = list(voice._runs(read))
    assert [word for run in runs for word in run] == list(read)
    assert len(runs) > 1
    assert all(sum(len(word.phonemes) + 1 for word in run) <= MOST_TOKENS for run in runs)
