"""Whether a text may be said: what is wrong with it is told in a sentence, before anything is made of it."""

import secrets
from collections.abc import Iterable

from adaptive.control.profiles import PROFILES, Profile
from adaptive.speech.languages import voice_for
from adaptive.speech.registry import infos
from adaptive.speech.renderer import Renderer, RenderJob
from adaptive.speech.scripts import unreadable
from adaptive.speech.voice import VoiceInfo

from ..messages import Refused, SayMessage
from ..sentences import shorten

LATER_S = 60.0
MOST_LATER = 4
"""So many utterances may wait for a time that is more than `LATER_S` ahead: the rest of the queue is for what is said
meanwhile."""


def profile_of(message: SayMessage, default: Profile) -> Profile:
    """The profile asked for. Raises Refused for one that does not exist."""
    if message.profile is None:
        return default
    if message.profile not in PROFILES:
        raise Refused(422, f"There is no profile '{shorten(message.profile)}'; there are {', '.join(PROFILES)}.")
    return PROFILES[message.profile]


def voice_of(message: SayMessage, default: str, renderer: Renderer) -> str:
    """The voice asked for; where none was, the default if it speaks most of the text, else one that does. Raises
    Refused for one that the renderer does not have, or that can read none of the text.

    A renderer may have more voices than it names beforehand: it is asked for a stream, which is thrown away.
    """
    voice = message.voice or voice_for(message.say, renderer.status().voices, default)
    names = [info.name for info in renderer.status().voices]
    if voice not in names:
        try:
            renderer.open(RenderJob(id=f"probe-{secrets.token_hex(6)}", voice=voice)).cancel()
        except ValueError as error:
            raise Refused(422, f"There is no voice '{shorten(voice)}'; there are {', '.join(names)}.") from error
        except RuntimeError as error:
            raise Refused(503, "The voices are being loaded; say it again in a moment.") from error
    info = _named(voice, renderer.status().voices) or _named(voice, infos())
    if info is not None and not message.more and (sentence := unreadable(message.say, info)) is not None:
        raise Refused(422, sentence)
    return voice


def _named(voice: str, infos: tuple[VoiceInfo, ...]) -> VoiceInfo | None:
    return next((info for info in infos if info.name == voice), None)


def check_text(message: SayMessage) -> None:
    """Raises Refused for a text in which there is nothing to say, unless more of it is announced."""
    if not message.more and all(c.isspace() or not c.isprintable() for c in message.say):
        raise Refused(422, "The text is empty; send at least one word to be spoken.")


def check_later(message: SayMessage, waiting: Iterable[float]) -> None:
    """Raises Refused for one more for a far time where enough wait; `waiting`: in how many seconds each may sound."""
    if message.at > LATER_S and sum(seconds > LATER_S for seconds in waiting) >= MOST_LATER:
        most = f"{MOST_LATER} utterances wait already for a time more than {LATER_S:.0f} seconds ahead"
        raise Refused(429, f"{most}; say it again when one has ended, or nearer to its time.")


def check_length(characters: int, most: int) -> None:
    """Raises Refused for a text that is too long with all its pieces together."""
    if characters > most:
        raise Refused(413, f"The text has {characters} characters with this piece; at most {most} are taken.")
