"""What a source of speech hands to a carrier: one frame's worth of samples."""

from dataclasses import dataclass

from adaptive.speech.voice import Samples


@dataclass(frozen=True, slots=True)
class Block:
    """Samples as they are to be heard: fades and silence are in them."""

    samples: Samples
    """float32, 48 kHz, exactly as many as were asked for; not to be written to."""
    utterance: str
    """The id of the utterance they are of."""
    start: int
    """Tick of the utterance at which they begin."""
    speech: bool = True
    """False: silence that only keeps the receiver's decoder awake."""
