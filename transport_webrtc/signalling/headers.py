"""Names of signalling's headers and media types, for both ends."""

SDP = "application/sdp"
FRAGMENT = "application/trickle-ice-sdpfrag"
TOKEN, TOKEN_LIFE = "Legato-Resume-Token", "Legato-Resume-Seconds"
"""Headers of an answer: what opens a takeover, and for how long after the listener went away. WHEP players know neither
and need not."""
