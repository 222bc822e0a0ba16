"""Text on its way to a voice: cleaned, and split into clauses while it still arrives.

Text comes in pieces cut anywhere, from a keyboard or a language model. Where the pieces were cut changes nothing:
every decision is made from left to right and waits until what it depends on has arrived.
"""

import re
import unicodedata

LIMIT = 200
"""A clause is never longer, because a voice prepares a clause as one. Lengths are those of `spoken_length`."""
FIRST_COMMA = 12
"""The first clause may end at a comma from this length on: the sooner it ends, the sooner it sounds."""
SECOND_COMMA = 24
"""The second one at a Chinese comma from this one: it is rendered while the short first one sounds."""
FIRST_CONJUNCTION = 30
"""The first clause may end before a conjunction from this length on."""
MIDDLE = 40
"""A semicolon, colon or dash ends any clause from this length on, and a Chinese comma, between whose clauses a reader
breathes as elsewhere at a semicolon."""
CHARACTER, KANA = 4, 2
"""Letters that are said in the time of a Chinese character (or a Korean syllable), and of a kana: speech has some 15
letters a second, 4 characters, 8 kana."""

PAUSE_PARAGRAPH_S = 0.4
PAUSE_SENTENCE_S = 0.25
PAUSE_MIDDLE_S = 0.18
PAUSE_COMMA_S = 0.12
PAUSE_NONE_S = 0.05

_SENTENCE_END = ".!?…。！？"
_MIDDLE_END = ";:–—；："
_COMMA_END = ",，、"
_CHINESE_COMMA = "，"
_CLOSING = "\"'”’»)]」』）】"
_C = re.escape(_CLOSING)

_MARK = re.compile(
    rf"(?P<sentence>[.!?…]+[{_C}]*(?=\s)|[。！？]+[{_C}]*(?=[^。！？{_C}]))"
    rf"|(?P<middle>(?:[;:][{_C}]*| [–—]|—)(?=\s)|[；：][{_C}]*(?=[^{_C}]))"
    rf"|(?P<comma>,[{_C}]*(?=\s)|[，、][{_C}]*(?=[^{_C}]))"
    r"|(?P<conjunction>(?= (?:and|but|or|because|while|when|where|which|although|if|so|until|unless)\s))"
    r"|(?P<paragraph>\n\n)"
)
_LOOK_AHEAD = 12
"""Characters beyond a mark that decide whether it is one: the longest conjunction between two spaces."""

_NO_END = re.compile(
    r"^\s*\d+\.$"
    r"|(?:^|[\s(\"'“‘])(?:[A-Z]|(?:[A-Za-z]\.)+[A-Za-z]|Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|vs|etc|cf|approx|Fig|Vol|Inc|Ltd|Co"
    r"|Gen|Col|Lt|Sgt|Capt|Rev|Hon|Mt|Ave|Blvd|Dept|Est|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec)\.$"
)
"""A full stop that ends no sentence: after a list number, an initial, an abbreviation."""

_NUMBERED = re.compile(r"(?:^|[\s(])(?:Nos?|[Pp]p?|[Vv]ol|[Cc]h|[Ff]igs?|[Pp]g|Nr|Sec|[Aa]pt|[Ee]xt|[Tt]el)\.$")
"""Another, where a number follows."""

_PUNCTUATION = re.compile(rf"[,;:.!?…]+[{_C}]*(?=\s)|[，、；：。！？]")
_SPACE = re.compile(r"(?=\s)")
_LONGER = {
    CHARACTER: re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff〇\U00020000-\U0003ffff]"),
    KANA: re.compile(r"[\u3041-\u30ff]"),
}
"""Characters that take longer to say than a letter."""
_IDEOGRAPH = re.compile(r"(?<=[\u2e80-\u9fff\uac00-\ud7af])|(?=[\u2e80-\u9fff\uac00-\ud7af])")
"""Beside a character of a script without spaces, so that no number and no Latin word among them is cut in two."""
_PLACES = ((_PUNCTUATION, MIDDLE), (_SPACE, MIDDLE), (_IDEOGRAPH, MIDDLE), (_SPACE, 2))
"""Where a clause that is too long is cut, the best first, and how long at least it is then."""


class _Cleaner:
    """`clean`, for text that comes in pieces: white space waits until something follows it."""

    def __init__(self) -> None:
        self._newlines = 0
        self._begun = False
        self.space_waits = False

    def feed(self, text: str) -> str:
        out = []
        for character in text:
            category = unicodedata.category(character)
            if category in {"Cs", "Co", "Cn"} or (category == "Cf" and character not in "\u200c\u200d"):
                continue
            if character.isspace() or category == "Cc":
                self._newlines += 2 if character == "\u2029" else character == "\n"
                self.space_waits = self._begun
                continue
            if self.space_waits:
                out.append("\n\n" if self._newlines > 1 else " ")
            self._newlines, self.space_waits, self._begun = 0, False, True
            out.append(character)
        return "".join(out)


def clean(text: str) -> str:
    """Text a voice can read: runs of white space and control characters become one space, or two newlines where they
    hold a blank line; invisible format characters and lone surrogates go; both ends are stripped."""
    return _Cleaner().feed(text)


def spoken_length(text: str) -> int:
    """How long it takes to be said, in letters."""
    return len(text) + sum((each - 1) * len(characters.findall(text)) for each, characters in _LONGER.items())


def speakable(clause: str) -> bool:
    """Whether it holds anything to say: a letter or a digit."""
    return any(character.isalnum() for character in clause)


def pause_after(clause: str) -> float:
    """Seconds of silence that follow a clause, by the punctuation at its end."""
    if clause.endswith("\n"):
        return PAUSE_PARAGRAPH_S
    last = clause.rstrip().rstrip(_CLOSING)[-1:]
    if not last:
        return PAUSE_NONE_S
    if last in _SENTENCE_END:
        return PAUSE_SENTENCE_S
    if last in _MIDDLE_END:
        return PAUSE_MIDDLE_S
    return PAUSE_COMMA_S if last in _COMMA_END else PAUSE_NONE_S


class ClauseSplitter:
    """Splits one utterance. The clauses put together are `clean` of the texts put together, whatever the pieces."""

    def __init__(self) -> None:
        self._cleaner = _Cleaner()
        self._rest = ""
        self._spoken = 0
        """Clauses so far that say something."""
        self._closed = False

    def feed(self, text: str, final: bool) -> list[str]:
        """The clauses that `text` completes, in order; with `final` all the rest. A clause is 1 to `LIMIT` long,
        white space at its ends included. Raises ValueError for text after the final piece."""
        if self._closed:
            raise ValueError("This text was closed; no more can be added to it.")
        self._closed = final
        text = self._rest + self._cleaner.feed(text)
        # White space that waits is white space already to whatever stands before it.
        seen = text + (" " if self._cleaner.space_waits else "")
        start, clauses = 0, []
        while start < len(text) and (end := self._end(seen, start, len(text), final)):
            clauses.append(text[start:end])
            start = end
            self._spoken += speakable(clauses[-1])
        self._rest = text[start:]
        return clauses

    def cut(self) -> list[str]:
        """Ends a clause here, whatever it ends with; more text may follow."""
        clauses = self.feed("", True)
        self._closed = False
        return clauses

    def _end(self, seen: str, start: int, length: int, final: bool) -> int:
        """Where the clause that begins at `start` ends; 0 where that cannot be said yet."""
        last = _last_within(seen, start, LIMIT)
        for mark in _MARK.finditer(seen, start, last + _LOOK_AHEAD):
            clause = seen[start : mark.end()]
            if not (start < mark.end() <= last and self._ends_here(mark, clause)):
                continue
            if mark.lastgroup == "sentence" and _NUMBERED.search(clause):
                following = seen[mark.end() :].lstrip()[:1]
                if not following and not final:
                    return 0
                if following.isdigit():
                    continue
            return mark.end()
        if length > last:
            return self._best_place(seen, start, last)
        return length if final else 0

    def _ends_here(self, mark: re.Match[str], clause: str) -> bool:
        length, first = spoken_length(clause), self._spoken == 0
        match mark.lastgroup:
            case "sentence":
                return not _NO_END.search(clause)
            case "paragraph":
                return bool(clause.strip())
            case "middle":
                return length >= (FIRST_COMMA if first else MIDDLE)
            case "comma":
                chinese = clause.rstrip(_CLOSING).endswith(_CHINESE_COMMA)
                later = SECOND_COMMA if self._spoken == 1 else MIDDLE
                return length >= FIRST_COMMA if first else chinese and length >= later
            case _:
                return first and FIRST_CONJUNCTION <= length <= LIMIT - _LOOK_AHEAD

    @staticmethod
    def _best_place(seen: str, start: int, last: int) -> int:
        """Where a clause that is too long is cut: after its last punctuation, else between words, else anywhere but
        inside of a character that is made of several."""
        for places, least in _PLACES:
            ends = [place.end() for place in places.finditer(seen, start, last + 1)]
            fitting = [end for end in ends if end <= last and spoken_length(seen[start:end]) >= least]
            if fitting:
                return fitting[-1]
        whole = last
        while whole > start + MIDDLE and (_joins(seen[whole]) or seen[whole - 1] == "\u200d"):
            whole -= 1
        return whole if whole > start + MIDDLE else last


def _joins(character: str) -> bool:
    """Whether it belongs to the character before it."""
    if character in "\u200c\u200d" or "\U0001f3fb" <= character <= "\U0001f3ff":
        return True
    return unicodedata.category(character).startswith("M")


def _last_within(text: str, start: int, limit: int) -> int:
    """The last place behind `start` that is no more than `limit` away; all of `text` and more where all of it is."""
    length = 0
    for place in range(start, min(len(text), start + limit + 1)):
        length += spoken_length(text[place])
        if length > limit:
            return place
    return start + limit
