"""Decides and makes sound; knows nothing of any network.

``control`` turns reports into plans, ``speech`` text into samples, ``audio`` joins and resamples them, ``codec`` turns
them into bytes and ``utterance`` keeps the life of one text. Nothing here imports ``transport_webrtc`` or ``quality``.

``adaptive.render`` speaks a text in one call and ``adaptive.write_wav`` stores what it made.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .audio.wav import write_wav
    from .speech.offline import render

__all__ = ["render", "write_wav"]

_HOMES = {"render": ".speech.offline", "write_wav": ".audio.wav"}


def __getattr__(name: str) -> Any:
    # Imported when first asked for: most of the package needs neither.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name], __name__), name)
