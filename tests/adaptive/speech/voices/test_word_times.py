from adaptive.speech.voice import Word
from adaptive.speech.voices.word_times import ReadWord, written_words


def read(*words: tuple[str, int, int]) -> list[ReadWord]:
    return [ReadWord(text=text, start=start, end=end) for text, start, end in words]


def test_words_that_are_read_as_written_keep_their_times() -> None:
    assert written_words("Don’t  go.", read(("Don't", 0, 10), ("go.", 12, 20))) == (
        Word(text="Don’t", start=0, end=10),
        Word(text="go.", start=12, end=20),
    )


def test_one_word_read_as_several_has_all_of_their_time() -> None:
    words = written_words("at 7:30 now", read(("at", 0, 5), ("seven", 6, 9), ("thirty", 10, 14), ("now", 15, 20)))
    assert words[1] == Word(text="7:30", start=6, end=14)


def test_several_words_read_as_others_share_their_time_and_say_so() -> None:
    words = written_words("at 7:30 pm", read(("at", 0, 5), ("seven", 10, 14), ("thirty", 15, 19), ("P.M.", 20, 60)))
    assert words[0] == Word(text="at", start=0, end=5)
    assert words[2] == Word(text="pm", start=20, end=60)
    shared = written_words("1st May", read(("May", 0, 10), ("first", 10, 20)))
    assert [word.text for word in shared] == ["1st", "May"]
    assert shared == tuple(sorted(shared, key=lambda word: word.start))


def test_a_word_that_is_not_said_has_no_length() -> None:
    assert written_words("go 👍 on", read(("go", 3, 8), ("on", 10, 12)))[1] == Word(
        text="👍", start=8, end=8, estimated=True
    )
    assert written_words("👍", ()) == (Word(text="👍", start=0, end=0, estimated=True),)
