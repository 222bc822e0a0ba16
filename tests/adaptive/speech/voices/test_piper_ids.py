import pytest

from adaptive.speech.voices.phonemes import SpokenWord
from adaptive.speech.voices.piper_ids import espeak_spelling, piper_text

MAP = {symbol: [number] for number, symbol in enumerate("_^$ abt,ˈ")}


@pytest.mark.parametrize(
    ("misaki", "espeak"),
    [
        ("bˈɜɹd", "bˈɜːd"),
        ("hˈɜɹid", "hˈɜːɹid"),
        ("wˈɔTəɹ", "wˈɔːɾɚ"),
        ("əɹˈWnd", "əɹˈaʊnd"),
        ("hˈæpi", "hˈæpi"),
        ("sˈi", "sˈiː"),
        ("wi", "wiː"),
        ("ju", "juː"),
        ("ʧˈAnʤ", "tʃˈeɪndʒ"),
        ("ˈæpᵊl", "ˈæpəl"),
    ],
)
def test_writes_phonemes_as_espeak_does(misaki: str, espeak: str) -> None:
    assert espeak_spelling(misaki) == espeak


def test_ids_have_pads_between_and_spans_hold_the_word_and_the_pad_before_it() -> None:
    words = [
        SpokenWord(text="Ta,", phonemes="ta,"),
        SpokenWord(text="👍", phonemes=""),
        SpokenWord(text="bat", phonemes="bˈat"),
    ]
    text = piper_text(words, MAP)
    #                  ^  _  t  _  a  _  ,  _  ␣  _  b  _  ˈ  _  a  _  t  _  $
    assert text.ids == (1, 0, 6, 0, 4, 0, 7, 0, 3, 0, 5, 0, 8, 0, 4, 0, 6, 0, 2)
    assert text.spans == ((1, 6), (8, 8), (9, 18))


def test_phonemes_the_model_does_not_know_are_left_out() -> None:
    assert piper_text([SpokenWord(text="x", phonemes="aʔt")], MAP).ids == (1, 0, 4, 0, 6, 0, 2)
