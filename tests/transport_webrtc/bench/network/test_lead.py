"""A lead that is pinned holds for every module that is imported afterwards."""

import subprocess
import sys

from transport_webrtc.bench.network.asked import ask

PROGRAM = """
from transport_webrtc.bench.network.senders.lead import pin
pin(3.0)
from transport_webrtc.listeners import PROFILES
from transport_webrtc.speaking.admission import PROFILES as said
print({profile.lead_s for profile in (*PROFILES.values(), *said.values())})
"""


def test_every_profile_has_the_pinned_lead() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "{3.0}"


def test_rows_of_two_leads_do_not_mix() -> None:
    def asked(lead_s: float | None):
        options = {"senders": "legato:data", "scenarios": "clean", "seeds": 1, "repeats": 0, "delay_ms": None}
        return ask(**options, profile="voice_chat", controller="adaptive", lead_s=lead_s)

    assert asked(3.0).common["lead_s"] == 3.0
    assert "lead_s" not in asked(None).common
