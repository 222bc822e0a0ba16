"""When an utterance can first be heard: by its samples, and by the packet that holds them."""

import numpy as np

from adaptive.codec.opus import OpusEncoder
from adaptive.control.plan import Bandwidth
from adaptive.speech.voice import Samples
from adaptive.ticks import TICK_RATE

FRAME = TICK_RATE // 50
"""Ticks in 20 ms."""
LOUD = 10 ** (-45 / 20)
"""Root mean square of a frame that is heard: −45 dBFS."""
BITRATE = 32_000


class Onset:
    """Takes an utterance's samples as they come, in frames of 20 ms from its start, and stops at the first loud one."""

    def __init__(self) -> None:
        self.packet: bytes | None = None
        """The packet that the first loud frame went into; None until there was one."""
        self._encoder = OpusEncoder()
        self._encoder.configure(bitrate=BITRATE, bandwidth=Bandwidth.FB)
        self._rest: Samples = np.zeros(0, dtype=np.float32)

    def push(self, samples: Samples) -> bool:
        """Whether the first loud frame is among what `samples` complete; then `packet` is there."""
        if self.packet is not None:
            return False
        self._rest = np.concatenate([self._rest, samples])
        while self.packet is None and len(self._rest) >= FRAME:
            frame, self._rest = self._rest[:FRAME], self._rest[FRAME:]
            packet = self._encoder.encode(frame)
            if np.sqrt(np.mean(np.square(frame))) > LOUD:
                self.packet = packet
                self._encoder.close()
        return self.packet is not None
