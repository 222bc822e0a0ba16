"""Networks with a name, both directions: `down` goes to the listener, `up` comes back."""

from collections.abc import Mapping
from types import MappingProxyType

from .settings import LinkSettings

Path = tuple[LinkSettings, LinkSettings]
"""Settings down and up."""


def _path(down: LinkSettings, up: LinkSettings | None = None) -> Path:
    return down, down if up is None else up


PRESETS: Mapping[str, Path] = MappingProxyType(
    {
        "clean": _path(LinkSettings()),
        "bad": _path(
            LinkSettings(delay_ms=60, jitter_ms=10, loss=0.05, rate_kbps=28),
            LinkSettings(delay_ms=60, jitter_ms=10, loss=0.05),
        ),
        "lossy": _path(LinkSettings(loss=0.1, burst=3)),
        "slow": _path(LinkSettings(rate_kbps=100)),
        "far": _path(LinkSettings(delay_ms=150)),
    }
)
"""The way back is never the narrow one: a listener sends little, and a full queue there would only hide the facts."""
