"""What to send when, for speech sent ahead: frames with a deadline, their acknowledgements, and what is sent again.

`Delivery` is all a data track needs. Frames go in, messages come out when they are due, acknowledgements go in; what is
known of the path and of the player comes out. Pure: every call takes `now`, monotonic seconds.
"""

from .delivery import Delivery
from .frames import Frame
from .playhead import Played
from .wire import FORMATS, MAX_MESSAGE_BYTES, Ack, Flush, PlayerState, SpeechMessage

__all__ = [
    "FORMATS",
    "MAX_MESSAGE_BYTES",
    "Ack",
    "Delivery",
    "Flush",
    "Frame",
    "Played",
    "PlayerState",
    "SpeechMessage",
]
