"""Samples to bytes and back: Opus under full control, frame by frame.

`OpusEncoder` is one libopus encoder for a listener's whole life; everything a plan can ask of it is changed between two
frames. `describe` reads what a packet really is from its first bytes, so that a fact is taken from the wire and not
from a setting.
"""

from .libopus import OpusError, version
from .opus import OpusDecoder, OpusEncoder
from .toc import Mode, PacketInfo, describe

__all__ = ["Mode", "OpusDecoder", "OpusEncoder", "OpusError", "PacketInfo", "describe", "version"]
