import pytest

from adaptive.speech.voices.sessions import threads


def test_one_thread_unless_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LEGATO_RENDER_THREADS", raising=False)
    assert threads() == 1
    monkeypatch.setenv("LEGATO_RENDER_THREADS", "3")
    assert threads() == 3


@pytest.mark.parametrize("text", ["0", "-1", "many", ""])
def test_nonsense_is_refused_with_a_sentence(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("LEGATO_RENDER_THREADS", text)
    with pytest.raises(ValueError, match="LEGATO_RENDER_THREADS must be a whole number of at least 1"):
        threads()
