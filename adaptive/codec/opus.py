"""One Opus encoder for a listener's whole life, changed between frames; and the decoder that tests and judges use."""

import ctypes
import threading
import weakref
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaptive.control.plan import Bandwidth

from . import libopus
from .libopus import OpusError

Samples = NDArray[np.float32]

# opus_defines.h
_APPLICATION_VOIP = 2048
_SIGNAL_VOICE = 3001
_SET_BITRATE, _SET_VBR, _SET_BANDWIDTH, _SET_COMPLEXITY = 4002, 4006, 4008, 4010
_SET_FEC, _SET_LOSS, _SET_DTX, _SET_VBR_CONSTRAINT, _SET_SIGNAL, _GET_LOOKAHEAD = 4012, 4014, 4016, 4020, 4024, 4027
_BANDWIDTHS = {Bandwidth.NB: 1101, Bandwidth.MB: 1102, Bandwidth.WB: 1103, Bandwidth.SWB: 1104, Bandwidth.FB: 1105}

_MAX_PACKET = 4000
"""Bytes; the size opus.h recommends, more than 60 ms can take."""
_MAX_FRAME_S = 0.12


class _State:
    """A libopus object: used by one thread at a time, destroyed exactly once, whoever lets go of it last."""

    def __init__(self, kind: str, *arguments: int) -> None:
        self.lib: Any = libopus.load()
        self.lock = threading.Lock()
        self._kind = kind
        code = ctypes.c_int()
        pointer = getattr(self.lib, f"opus_{kind}_create")(*arguments, ctypes.byref(code))
        if code.value or not pointer:
            raise OpusError(code.value, f"An Opus {kind} at {arguments[0]} Hz was not made")
        self._pointer = pointer
        self._destroy = weakref.finalize(self, getattr(self.lib, f"opus_{kind}_destroy"), pointer)

    @property
    def pointer(self) -> int:
        """Hold `lock` while using it. Raises ValueError once closed."""
        if not self._destroy.alive:
            raise ValueError(f"This Opus {self._kind} is closed.")
        return self._pointer

    def close(self) -> None:
        with self.lock:
            self._destroy()


class OpusEncoder:
    """Mono speech to Opus packets.

    VOIP application, voice signal, constrained variable bitrate. The bandwidth is set, never left to libopus, which
    otherwise narrows it to make room for FEC. The frame length is that of the samples given: 20, 40 and 60 ms (and
    the other lengths of RFC 6716) may follow each other freely. Raises OpusError when libopus refuses.
    """

    def __init__(self, rate: int = 48_000) -> None:
        """`rate` in Hz: 8000, 12000, 16000, 24000 or 48000."""
        self._state = _State("encoder", rate, 1, _APPLICATION_VOIP)
        self._rate = rate
        self._buffer = ctypes.create_string_buffer(_MAX_PACKET)
        self._settings: dict[int, int] = {}
        with self._state.lock:
            self._set(_SET_SIGNAL, _SIGNAL_VOICE)
            self._set(_SET_VBR, 1)
            self._set(_SET_VBR_CONSTRAINT, 1)
            lookahead = ctypes.c_int32()
            self._ctl(_GET_LOOKAHEAD, ctypes.byref(lookahead))
        self._lookahead = lookahead.value

    @property
    def rate(self) -> int:
        """Hz."""
        return self._rate

    @property
    def lookahead(self) -> int:
        """Samples by which what is decoded lags behind what was encoded."""
        return self._lookahead

    def configure(
        self,
        *,
        bitrate: int | None = None,
        bandwidth: Bandwidth | None = None,
        fec: bool | None = None,
        loss_hint: int | None = None,
        complexity: int | None = None,
        dtx: bool | None = None,
    ) -> None:
        """Takes effect with the next frame; what is None or unchanged is not touched.

        `bitrate` in bit/s of payload, `loss_hint` in percent of packets expected to be lost, `complexity` 0..10.
        FEC needs a hint: at 24 kb/s one of 10 or more, and there libopus goes to wideband whatever `bandwidth` says.
        """
        wanted = {
            _SET_BITRATE: bitrate,
            _SET_BANDWIDTH: None if bandwidth is None else _BANDWIDTHS[bandwidth],
            _SET_FEC: None if fec is None else int(fec),
            _SET_LOSS: loss_hint,
            _SET_COMPLEXITY: complexity,
            _SET_DTX: None if dtx is None else int(dtx),
        }
        with self._state.lock:
            for request, value in wanted.items():
                if value is not None and self._settings.get(request) != value:
                    self._set(request, value)

    def encode(self, samples: Samples) -> bytes:
        """One frame, float32 of shape `[n]`, full scale ±1, to one packet.

        A packet of one or two bytes says that with DTX nothing need be sent. Raises ValueError for another shape or
        after `close`, OpusError for a length that is no Opus frame.
        """
        frame = np.ascontiguousarray(samples, dtype=np.float32)
        if frame.ndim != 1:
            raise ValueError(f"A frame is one row of samples; this has the shape {frame.shape}.")
        with self._state.lock:
            size = self._state.lib.opus_encode_float(
                self._state.pointer, frame.ctypes.data, len(frame), self._buffer, _MAX_PACKET
            )
            if size < 0:
                raise OpusError(size, f"A frame of {len(frame)} samples at {self._rate} Hz was not encoded")
            return ctypes.string_at(self._buffer, size)

    def close(self) -> None:
        """Frees it; safe to repeat, from any thread, also while a frame is being encoded."""
        self._state.close()

    def _set(self, request: int, value: int) -> None:
        self._ctl(request, ctypes.c_int32(value))
        self._settings[request] = value

    def _ctl(self, request: int, argument: object) -> None:
        code = self._state.lib.opus_encoder_ctl(self._state.pointer, request, argument)
        if code:
            raise OpusError(code, f"Opus control {request} ({argument}) was refused")


class OpusDecoder:
    """Opus packets to mono samples, with what Opus does about lost ones. Raises OpusError when libopus refuses."""

    def __init__(self, rate: int = 48_000) -> None:
        """`rate` in Hz: 8000, 12000, 16000, 24000 or 48000."""
        self._state = _State("decoder", rate, 1)
        self._limit = round(rate * _MAX_FRAME_S)

    def decode(self, packet: bytes | None, samples: int) -> Samples:
        """The samples of a packet, float32 `[n]`; None conceals `samples` lost ones.

        `samples` is the most that a packet may hold, and exactly what is concealed (whole units of 2.5 ms).
        """
        if packet is not None and not packet:
            raise ValueError("A packet has at least one byte; None stands for a lost one.")
        return self._decode(packet, samples, fec=False)

    def decode_fec(self, next_packet: bytes, samples: int) -> Samples:
        """The lost packet before `next_packet` from the copy inside that one, float32 `[samples]`.

        Without a copy inside this conceals. `samples` is the exact length of what was lost.
        """
        if not next_packet:
            raise ValueError("A packet has at least one byte.")
        return self._decode(next_packet, samples, fec=True)

    def close(self) -> None:
        """Frees it; safe to repeat and from any thread."""
        self._state.close()

    def _decode(self, packet: bytes | None, samples: int, *, fec: bool) -> Samples:
        if not 0 < samples <= self._limit:
            raise ValueError(f"A packet holds 1 to {self._limit} samples at this rate, not {samples}.")
        out = np.empty(samples, np.float32)
        with self._state.lock:
            count = self._state.lib.opus_decode_float(
                self._state.pointer, packet, len(packet or b""), out.ctypes.data, samples, int(fec)
            )
        if count < 0:
            raise OpusError(count, f"A packet of {len(packet or b'')} bytes was not decoded to {samples} samples")
        return out[:count]
