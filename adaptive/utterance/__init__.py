"""The life of one text: its states, the samples between renderer and carrier, and what of it has been heard. Pure."""

from .pipeline import Pipeline
from .position import HeardClock, Timeline, heard_text
from .states import IllegalMove, Life, Sounding, State
from .taking_up import Text

__all__ = ["HeardClock", "IllegalMove", "Life", "Pipeline", "Sounding", "State", "Text", "Timeline", "heard_text"]
