"""Joins, resamples and stores samples: float32 mono, full scale ±1. Nothing here knows a voice or a network.

``seams`` aligns and crossfades, ``wav`` turns samples into bytes and back; both need NumPy alone. ``resampling`` and
``rate_switch`` are imported by their own names because they load torch, which the media process never does.
"""

from .seams import crossfade, find_lag, join
from .wav import read_wav, write_wav

__all__ = ["crossfade", "find_lag", "join", "read_wav", "write_wav"]
