"""The network on a bench: one link model that runs on virtual and on real time, and the networks it can be.

Nothing here knows a socket, a loop or a clock: whoever uses a `Link` brings the time.
"""

from .link import Fate, Flow, Link
from .presets import PRESETS, Path
from .settings import Jitter, LinkSettings
from .traces import parse_mahimahi

__all__ = ["PRESETS", "Fate", "Flow", "Jitter", "Link", "LinkSettings", "Path", "parse_mahimahi"]
