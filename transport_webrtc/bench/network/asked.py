"""What a bench is asked for, checked before anything starts."""

from dataclasses import dataclass
from typing import Any

from adaptive.control.profiles import PROFILES
from adaptive.control.registry import load_controller
from quality.lab.scenarios import Scenario, load, names

from .clip import TEXT, VOICE
from .senders.names import SenderName, parse_sender


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One bench."""

    senders: tuple[SenderName, ...]
    scenarios: tuple[Scenario, ...]
    seeds: int
    """Runs of each sender in each scenario."""
    repeats: int
    """Tries more for a run that the machine spoilt."""
    profile: str
    controller: str
    delay_ms: int | None
    """Pins the buffers of the listeners of those that are not Legato."""
    lead_s: float | None = None
    """How far ahead Legato's data track sends; None is the profile's."""

    @property
    def count(self) -> int:
        """Of runs."""
        return len(self.senders) * len(self.scenarios) * self.seeds

    @property
    def common(self) -> dict[str, Any]:
        """What rows must have in common to stand in one table."""
        return {
            "profile": self.profile,
            "controller": self.controller,
            "delay_ms": self.delay_ms,
            **({} if self.lead_s is None else {"lead_s": self.lead_s}),
            "text": TEXT,
            "voice": VOICE,
        }


def ask(
    *,
    senders: str,
    scenarios: str | None,
    seeds: int,
    repeats: int,
    profile: str,
    controller: str,
    delay_ms: int | None,
    lead_s: float | None = None,
) -> Asked:
    """From what the command line has: lists with commas between, None for all scenarios. Raises ValueError with a
    sentence."""
    if profile not in PROFILES:
        raise ValueError(f"There is no profile {profile!r}; there are {', '.join(PROFILES)}.")
    load_controller(controller, profile=PROFILES[profile])
    return Asked(
        senders=tuple(parse_sender(text, delay_ms=delay_ms) for text in senders.split(",")),
        scenarios=tuple(load(name.strip()) for name in (scenarios.split(",") if scenarios else names())),
        seeds=seeds,
        repeats=repeats,
        profile=profile,
        controller=controller,
        delay_ms=delay_ms,
        lead_s=lead_s,
    )
