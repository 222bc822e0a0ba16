"""One loudness for every voice: a fixed gain, and a limiter that bends peaks instead of cutting them.

Both look at one sample at a time, so that a chunk does not depend on what surrounds it.
"""

import numpy as np

from ..voice import Samples

KNEE = 0.7
"""Up to here the limiter leaves samples as they are; above, they approach 1 and never reach it."""


def level(samples: Samples, gain: float) -> Samples:
    """`samples` (any shape) times `gain`, within ±1."""
    louder = samples * np.float32(gain)
    peaks = np.abs(louder) > KNEE
    if peaks.any():
        over = (np.abs(louder[peaks]) - KNEE) / (1 - KNEE)
        louder[peaks] = np.sign(louder[peaks]) * (KNEE + (1 - KNEE) * np.tanh(over))
    return louder
