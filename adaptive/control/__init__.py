"""Reports in, plan out: decides for one listener at which rung, tier and protection speech travels.

Pure: time comes with the reports and with `plan`, so that the same objects run in server, simulator and notebook.
`ladder` knows the rungs and their cost on the wire; `loss`, `queueing`, `capacity`, `compute` and `freshness` each
learn one thing from reports; `gate` slows every rise; `decider` puts them together, `guard` keeps a plan if it fails.
`emodel` and `opinion` say what a listener is expected to think of it.
"""

from .base import Controller
from .controller import AdaptiveController
from .fixed import FixedController
from .ladder import RUNGS, wire_rate
from .opinion import expected
from .plan import Bandwidth, Carrier, Codec, Format, Plan, Protection, Reason, Rung
from .profiles import DEFAULT_PROFILE, PROFILES, Keep, Profile, Weights
from .registry import load_controller
from .reports import Arrival, ComputeReport, ContentReport, HeardReport, NetworkReport, Source

__all__ = [
    "DEFAULT_PROFILE",
    "PROFILES",
    "RUNGS",
    "AdaptiveController",
    "Arrival",
    "Bandwidth",
    "Carrier",
    "Codec",
    "ComputeReport",
    "ContentReport",
    "Controller",
    "FixedController",
    "Format",
    "HeardReport",
    "Keep",
    "NetworkReport",
    "Plan",
    "Profile",
    "Protection",
    "Reason",
    "Rung",
    "Source",
    "Weights",
    "expected",
    "load_controller",
    "wire_rate",
]
