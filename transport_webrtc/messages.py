"""What a listener may ask for, what it is told, and how a request is refused.

The same messages come as JSON over the `control` channel and over HTTP.
"""

import json
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictBool, StrictStr, ValidationError

from adaptive.control.profiles import Keep

from .sentences import must_be, shorten

VERBS = ("stop", "pause", "resume", "clear")
MOST_NAMED = 5
"""Of the fields that are not known."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Bounds of what a listener may ask for."""

    max_text_chars: int = 20_000
    """Of one utterance, all its pieces together."""
    max_message_bytes: int = 65_536
    max_waiting: int = 8
    """Utterances of one listener that wait behind the one that sounds."""


class Refused(Exception):
    """A request that is not carried out: an HTTP status and a sentence that says what to do."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence


def _printable(text: str) -> str:
    """Ids go into logs and onto terminals."""
    if not text.isprintable():
        raise ValueError("has characters that do not print")
    return text


ID = "a string of 1 to 128 characters that print"
Id = Annotated[StrictStr, Field(min_length=1, max_length=128), AfterValidator(_printable)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]


class SayMessage(BaseModel):
    """Text to be spoken. The description of a field says what it takes, for the sentence that refuses another value."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    say: Annotated[StrictStr, Field(description="text in a string")]
    id: Annotated[Id | None, Field(description=ID)] = None
    """The client's own; the same id again is harmless."""
    more: Annotated[StrictBool, Field(description="true or false")] = False
    """Further pieces of text will come under the same id."""
    voice: Annotated[StrictStr | None, Field(description="the name of a voice")] = None
    speed: Annotated[Number, Field(ge=0.25, le=4, description="a number from 0.25 to 4")] = 1.0
    profile: Annotated[StrictStr | None, Field(description="the name of a profile")] = None
    carrier: Annotated[Literal["auto", "audio", "data"], Field(description="auto, data or audio")] = "auto"
    """For its turn; `auto` is the listener's."""
    priority: Annotated[
        Annotated[int, Field(strict=True, ge=0, le=9)] | None, Field(description="a whole number from 0 to 9")
    ] = None
    """A higher one goes first; None is the profile's."""
    interrupt: Annotated[StrictBool, Field(description="true or false")] = False
    """Cuts off what sounds, at once."""
    at: Annotated[Number, Field(ge=0, le=86_400, description="seconds from 0 to 86400")] = 0.0
    """Seconds after the server received it, at which it may begin to sound."""
    keep: Annotated[Keep | None, Field(description="resume, restart or skip")] = None


class VerbMessage(BaseModel):
    """Something to be done with what was said before."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    verb: Literal["stop", "pause", "resume", "clear"]
    id: Annotated[Id | None, Field(description=ID)] = None
    """The utterance meant; None is whatever sounds, or all of them."""


class CarrierMessage(BaseModel):
    """From now on that carrier has the speech; what sounds goes on where it was heard."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    carrier: Annotated[Literal["audio", "data"], Field(description="audio or data")]


Message = SayMessage | VerbMessage | CarrierMessage


@dataclass(frozen=True, kw_only=True)
class Accepted:
    """The answer to `say`."""

    id: str
    place: int
    """How many utterances are to be heard before it."""

    def as_dict(self) -> dict[str, Any]:
        """As it goes over the wire."""
        return {"id": self.id, "place": self.place}


@dataclass(frozen=True, kw_only=True)
class Event:
    """Something that happened to a listener's speech."""

    name: str
    id: str | None
    """Of the utterance, where it is about one."""
    at: float
    """Seconds since the listener connected."""
    position: int | None = None
    """Last tick of the utterance that was heard."""
    data: dict[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """As it goes over the wire."""
        return {"event": self.name, "id": self.id, "at": round(self.at, 3), "position": self.position, **self.data}


def parse_message(raw: str | bytes, limits: Limits) -> Message:
    """A message as it came over the wire. Raises Refused with a sentence for whatever is wrong with it."""
    size = len(raw.encode(errors="surrogatepass")) if isinstance(raw, str) else len(raw)
    if size > limits.max_message_bytes:
        raise Refused(413, f"The message has {size} bytes; at most {limits.max_message_bytes} are taken.")
    try:
        value = json.loads(raw if isinstance(raw, str) else raw.decode())
    except (ValueError, RecursionError) as error:
        raise Refused(400, 'The message is not JSON in UTF-8; send an object such as {"say": "Hello."}.') from error
    if not isinstance(value, dict):
        raise Refused(422, 'The message is not an object; send one such as {"say": "Hello."}.')
    return message_from(value, limits)


def message_from(value: dict[str, Any], limits: Limits) -> Message:
    """A message from the object that JSON held. Raises Refused."""
    asked = [verb for verb in ("say", *VERBS) if verb in value]
    if list(value) == ["carrier"]:
        return _validated(CarrierMessage, value)
    if len(asked) != 1:
        raise Refused(422, _which_verb(asked, value))
    model: type[BaseModel] = SayMessage if asked == ["say"] else VerbMessage
    known = [name for name in model.model_fields if name != "verb"]
    if unknown := [name for name in value if name not in (*known, *asked)]:
        rule = "Known are" if model is SayMessage else "Beside the verb there is only"
        raise Refused(422, f"{_unknown(unknown)} {rule} {', '.join(known)}.")
    if model is SayMessage:
        say = _validated(SayMessage, value)
        _check_text(say, limits)
        return say
    verb = asked[0]
    if value[verb] is not True:
        raise Refused(422, f'The value of "{verb}" must be true.')
    return _validated(VerbMessage, {"verb": verb, **{k: v for k, v in value.items() if k != verb}})


M = TypeVar("M", bound=BaseModel)


def _validated(model: type[M], value: dict[str, Any]) -> M:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise Refused(422, _sentence(error, model)) from error


def _which_verb(asked: list[str], value: dict[str, Any]) -> str:
    """What is wrong with a message that asks for nothing, or for more than one thing."""
    rule = f"A message asks for exactly one of say, {', '.join(VERBS)}"
    if asked:
        return f"{rule}; this one has {' and '.join(asked)}."
    unknown = [name for name in value if name not in SayMessage.model_fields]
    return f"{_unknown(unknown)} {rule}." if unknown else f"{rule}; this one has none."


def _unknown(names: list[str]) -> str:
    more = ", …" if len(names) > MOST_NAMED else ""
    return f"Unknown field: {', '.join(map(shorten, names[:MOST_NAMED]))}{more}."


def _check_text(message: SayMessage, limits: Limits) -> None:
    if len(message.say) > limits.max_text_chars:
        raise Refused(413, f"The text has {len(message.say)} characters; at most {limits.max_text_chars} are taken.")
    if not message.say.isprintable() and any("\ud800" <= c <= "\udfff" for c in message.say):
        raise Refused(422, "The text has half a surrogate pair in it; send valid Unicode.")


def _sentence(error: ValidationError, model: type[BaseModel]) -> str:
    """What pydantic found, in a sentence."""
    first = error.errors()[0]
    name = str(first["loc"][0])
    return f"{name} {must_be(model.model_fields[name].description, first)}"
