"""Which voice a text is given to."""

from types import SimpleNamespace
from typing import Any

import pytest

from adaptive.speech.voices.joe import INFO as JOE
from adaptive.speech.voices.kumo import INFO as KUMO
from transport_webrtc.messages import Refused, SayMessage
from transport_webrtc.speaking.admission import voice_of


def renderer(*voices: Any) -> Any:
    return SimpleNamespace(status=lambda: SimpleNamespace(voices=voices))


def test_a_text_without_a_voice_goes_to_one_that_speaks_it() -> None:
    both = renderer(JOE, KUMO)
    assert voice_of(SayMessage(say="Hello."), "joe", both) == "joe"
    assert voice_of(SayMessage(say="你好。"), "joe", both) == "kumo"
    assert voice_of(SayMessage(say="Play 月亮 for me."), "joe", both) == "joe"
    assert voice_of(SayMessage(say="播放一首歌 Moon River。"), "joe", both) == "kumo"


def test_a_voice_that_was_asked_for_is_kept_or_refused() -> None:
    both = renderer(JOE, KUMO)
    assert voice_of(SayMessage(say="Play 月亮 for me.", voice="joe"), "kumo", both) == "joe"
    with pytest.raises(Refused, match="can read no word"):
        voice_of(SayMessage(say="你好。", voice="joe"), "kumo", both)
    with pytest.raises(Refused, match="can read no word"):
        voice_of(SayMessage(say="你好。"), "joe", renderer(JOE))
