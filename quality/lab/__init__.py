"""The network on a bench: one link model that runs on virtual and on real time, and the networks it can be.

A `Link` knows no socket, loop or clock: whoever uses it brings the time. `live.py` gives it that of an event loop, for
the rigs: `relay.py` and `tun.py` here, and the filter around one connection's datagrams in transport_webrtc.
"""

from .link import Fate, Flow, Link
from .presets import PRESETS, Path
from .settings import Jitter, LinkSettings
from .traces import parse_mahimahi

__all__ = ["PRESETS", "Fate", "Flow", "Jitter", "Link", "LinkSettings", "Path", "parse_mahimahi"]
