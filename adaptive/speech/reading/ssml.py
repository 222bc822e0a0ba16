"""SSML (W3C, Speech Synthesis Markup Language 1.1) while it arrives: `speak`, `p`, `s`, `break`, `emphasis`, `say-as`
and the rate of `prosody`.

The text inside of anything else is read, and that there was something else is told once. Emphasis is accepted and its
words are read as they stand: no voice here has a control for it. Text begins with `<speak` and is bounded before it
comes here, so that it declares no entities: there are the five of XML.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from xml.parsers import expat

LONGEST_BREAK_S = 10.0
STRENGTHS = {"none": 0.0, "x-weak": 0.1, "weak": 0.2, "medium": 0.4, "strong": 0.7, "x-strong": 1.0}
"""Seconds of a break that says no time; SSML leaves them to the reader."""
RATES = {"x-slow": 0.5, "slow": 0.75, "medium": 1.0, "default": 1.0, "fast": 1.25, "x-fast": 1.6}
"""Times the speed; SSML leaves them to the reader too."""
_READ = {
    "speak": {"version", "xmlns", "xml:lang", "xml:base", "onlangfailure", "xsi:schemaLocation", "xmlns:xsi"},
    "p": {"xml:lang", "xml:id"},
    "s": {"xml:lang", "xml:id"},
    "break": {"time", "strength"},
    "emphasis": {"level"},
    "say-as": {"interpret-as", "format", "detail"},
    "prosody": {"rate"},
}
_UNHEARD = frozenset({"metadata", "meta", "lexicon", "desc", "script"})
"""Their content is no text."""
_BEGIN = re.compile(r"\s*<speak[\s>/]")
_SPELT = frozenset({"characters", "character", "spell-out", "verbatim", "digits", "telephone"})
_PLAIN = frozenset({"cardinal", "number", "ordinal", "date", "time", "fraction", "unit", "currency", "address", "name"})


@dataclass(frozen=True, kw_only=True)
class Break:
    """Silence; seconds."""

    seconds: float


@dataclass(frozen=True, kw_only=True)
class Rate:
    """From here on, times the speed of the utterance."""

    times: float


@dataclass(frozen=True, kw_only=True)
class Border:
    """A sentence or a paragraph ends here."""


@dataclass(frozen=True, kw_only=True)
class Notice:
    """Something that whoever wrote the text should know; a sentence."""

    message: str


@dataclass(frozen=True, kw_only=True)
class Plain:
    """What cannot be read as SSML, to be read as any text."""

    text: str


Part = str | Break | Rate | Border | Notice | Plain


def is_ssml(beginning: str) -> bool | None:
    """Of a text that begins so; None where more of it must come first."""
    if _BEGIN.match(beginning):
        return True
    stripped = beginning.lstrip()
    return None if "<speak".startswith(stripped) else False


class SsmlReader:
    """One text, cut anywhere."""

    def __init__(self) -> None:
        self._parts: list[Part] = []
        self._rates = [1.0]
        self._unheard = 0
        self._say_as: Mapping[str, str] | None = None
        self._said = ""
        self._noticed = False
        self._raw = b""
        self._broken = False
        self._depth = 0
        self._end_of_root: int | None = None
        self._parser = expat.ParserCreate()
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters

    def feed(self, text: str, final: bool) -> list[Part]:
        """What `text` adds, in order. Never raises."""
        plain = "".join(character for character in text if character >= " " or character in "\t\r\n")
        encoded = plain.encode("utf-8", "ignore")
        if self._broken:
            return [Plain(text=encoded.decode())]
        self._raw += encoded
        try:
            self._parser.Parse(encoded, final)
        except expat.ExpatError as error:
            self._break_off(error)
        parts, self._parts = self._parts, []
        return parts

    def _break_off(self, error: expat.ExpatError) -> None:
        self._broken = True
        if self._end_of_root is not None:
            message, end = "Something stands behind </speak>; it is read as plain text.", self._end_of_root
        else:
            place = f"line {error.lineno}, column {error.offset + 1}"
            message = f"The SSML ends at {place} ({expat.ErrorString(error.code)}); what follows is read as plain text."
            end = max(self._parser.ErrorByteIndex, 0)
            if b">" not in self._raw[(tag := max(self._raw.rfind(b"<", 0, end), 0)) : end]:
                end = tag  # the error is inside of a tag
        self._parts += [Rate(times=1.0), Notice(message=message)]
        if rest := self._raw[end:].decode("utf-8", "ignore"):
            self._parts.append(Plain(text=rest))

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if name in _UNHEARD or self._unheard:
            self._unheard += 1
        known = _READ.get(name)
        if known is None:
            self._ignored(f"<{name}>")
            self._parts.append(" ")
        elif unknown := sorted(set(attributes) - known):
            self._ignored(f"{unknown[0]} of <{name}>")
        match name:
            case "break":
                self._parts.append(Break(seconds=self._pause(attributes)))
            case "prosody":
                self._rates.append(self._rates[-1] * self._rate(attributes.get("rate", "medium")))
                self._parts.append(Rate(times=self._rates[-1]))
            case "say-as":
                self._say_as, self._said = attributes, ""
            case "p" | "s":
                self._parts.append(Border())

    def _end(self, name: str) -> None:
        self._depth -= 1
        if not self._depth:
            self._end_of_root = self._raw.find(b">", self._parser.CurrentByteIndex) + 1
        if self._unheard:
            self._unheard -= 1
        match name:
            case "prosody":
                self._rates.pop()
                self._parts.append(Rate(times=self._rates[-1]))
            case "say-as" if self._say_as is not None:
                said, self._say_as, self._said = self._interpreted(), None, ""
                self._parts.append(said)
            case "p" | "s":
                self._parts.append(Border())

    def _characters(self, text: str) -> None:
        if self._unheard:
            return
        if self._say_as is not None:
            self._said += text
        else:
            self._parts.append(text)

    def _interpreted(self) -> str:
        """The text of a `say-as` in a form that is read as it asks."""
        assert self._say_as is not None
        kind, text = self._say_as.get("interpret-as", ""), " ".join(self._said.split())
        if kind in _SPELT:
            return " ".join(character.upper() for character in text if character.isalnum())
        if kind in {"cardinal", "number"} and re.fullmatch(r"\d{4,15}", text):
            return f"{int(text):,}"
        if kind == "ordinal" and re.fullmatch(r"\d{1,15}", text):
            teen = len(text) > 1 and text[-2] == "1"
            return text + ("th" if teen else {"1": "st", "2": "nd", "3": "rd"}.get(text[-1], "th"))
        if kind == "date":
            return _date(text, self._say_as.get("format", ""))
        if kind not in _PLAIN:
            self._ignored(f"interpret-as {kind!r}")
        return text

    def _pause(self, attributes: Mapping[str, str]) -> float:
        written = attributes.get("time")
        if written is None:
            return STRENGTHS.get(attributes.get("strength", "medium"), STRENGTHS["medium"])
        found = re.fullmatch(r"\+?(\d{0,9}(?:\.\d{1,9})?)(ms|s)", written.strip())
        if not found or not found[1]:
            self._ignored(f"the time {written[:20]!r} of <break>")
            return STRENGTHS["medium"]
        return min(float(found[1]) / (1000 if found[2] == "ms" else 1), LONGEST_BREAK_S)

    def _rate(self, written: str) -> float:
        """Named, as a number, or in percent: of the speed, or more or less than it where there is a sign."""
        if written in RATES:
            return RATES[written]
        found = re.fullmatch(r"([+-]?)(\d{1,4}(?:\.\d{1,9})?)(%?)", written.strip())
        value = float(found[2]) / (100 if found[3] else 1) if found else 0.0
        if found and found[1]:
            value = 1 + value if found[1] == "+" else 1 - value
        if value <= 0:
            self._ignored(f"the rate {written[:20]!r}")
            return 1.0
        return value

    def _ignored(self, what: str) -> None:
        if not self._noticed:
            self._noticed = True
            read = "speak, p, s, break, emphasis, say-as and the rate of prosody"
            self._parts.append(Notice(message=f"Of SSML {read} are understood; {what} and the like are ignored."))


def _date(text: str, order: str) -> str:
    """With its year first where `order` says which number is which, such as `dmy`."""
    numbers = re.findall(r"\d+", text)
    if sorted(order) != ["d", "m", "y"] or len(numbers) != 3:
        return text
    day, month, year = (numbers[order.index(part)] for part in "dmy")
    return f"{year.zfill(4)}-{month.zfill(2)}-{day.zfill(2)}"
