"""Controllers by name: the built-in ones, and what other distributions register as `legato.controllers`."""

from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from typing import Any

from .base import Controller
from .controller import AdaptiveController
from .fixed import FixedController
from .profiles import Profile

GROUP = "legato.controllers"

_BUILT_IN: Mapping[str, Callable[..., Controller]] = {"adaptive": AdaptiveController, "fixed": FixedController}


def available() -> tuple[str, ...]:
    """The names that `load_controller` knows, built-in ones first."""
    return tuple(dict.fromkeys([*_BUILT_IN, *sorted(point.name for point in entry_points(group=GROUP))]))


def load_controller(name: str, *, profile: Profile) -> Controller:
    """A new controller for one listener.

    `name` may carry an argument after a colon for those that take one (`from_text`), such as `fixed:24000`. Raises
    ValueError with a sentence for an unknown name or argument.
    """
    plain, colon, argument = name.partition(":")
    factory: Any = _BUILT_IN.get(plain) or _installed(plain)
    if factory is None:
        raise ValueError(f"There is no controller named {plain!r}; there are {', '.join(available())}.")
    if not colon:
        return factory(profile=profile)
    if not hasattr(factory, "from_text"):
        raise ValueError(f"The controller {plain!r} takes no argument, so {name!r} means nothing.")
    return factory.from_text(argument, profile=profile)


def _installed(name: str) -> Callable[..., Controller] | None:
    return next((point.load() for point in entry_points(group=GROUP, name=name)), None)
