"""The sound of hibari's network, frame by frame: any run of frames gives what the whole clause would have given.

The network says five half spectra and a pitch for every 12.5 ms; pulses at the pitch, noise and a free-phase part make
one spectrum, and an inverse STFT makes samples of it. Only the phase of the pulses runs through the clause: it is
summed up once. Source of the arithmetic: `hibari.dsp.synth` (hibari-tts 0.2, Apache-2.0), made for a whole clause.
"""

from collections.abc import Sequence

import numpy as np
from hibari.dsp import HOP, N_FFT, SR, WIN, WIN_SRC, ex
from numpy.typing import NDArray
from scipy.fft import irfft, rfft

from ..voice import Samples
from .limits import seed_words

Floats = NDArray[np.float32]
Spectra = NDArray[np.complex64]

BINS = N_FFT // 2 + 1
OVERLAP = N_FFT // HOP
"""Frames that sound at any one time."""
VOICED_HZ, TOP_HZ = 40.0, 11_000.0
"""Below the first a frame has no pulses; above the second no harmonics."""
NOISE_BLOCK = 16
"""Frames whose noise is drawn in one go, from a generator of their own."""


class HeartSound:
    """What the network said of one clause, ready to sound in any order."""

    def __init__(self, outputs: Sequence[Floats], *, seed: int) -> None:
        """`outputs`: log magnitude and turn of the harmonics, log magnitude of the noise, log magnitude and phase of
        the free part, [601, frames] each, and the pitch in Hz, [frames]."""
        self._harmonic, self._turn, self._noise, self._free, self._phase, pitch = outputs
        self._seed = seed
        self._drawn: dict[int, Floats] = {}
        """Noise of the blocks that were asked for last."""
        self.frames = len(pitch)
        self._pitch = _by_sample(pitch)
        turns = np.cumsum(np.maximum(self._pitch, np.float32(VOICED_HZ)), dtype=np.float64) / SR
        self._angle = (np.modf(turns)[0] * 2 * np.pi).astype(np.float32)

    def samples(self, start: int, stop: int) -> Samples:
        """Samples of the frames `start` to `stop`, [(stop - start) * 300], float32."""
        ahead = OVERLAP // 2
        first, last = max(0, start - ahead + 1), min(self.frames, stop + ahead)
        waves = irfft(self._spectra(first, last), n=N_FFT, axis=1)
        waves *= WIN
        blocks = waves.reshape(last - first, OVERLAP, HOP)
        squares = (WIN * WIN).reshape(OVERLAP, HOP)
        sound = np.zeros((stop - start, HOP), np.float32)
        weight = np.zeros((stop - start, HOP), np.float32)
        for part in range(OVERLAP):
            # Part `part` of frame k lies on frame k + part - ahead.
            begin, end = max(start, first + part - ahead), min(stop, last + part - ahead)
            if begin < end:
                shift = ahead - part - first
                sound[begin - start : end - start] += blocks[begin + shift : end + shift, part]
                weight[begin - start : end - start] += squares[part]
        sound /= np.maximum(weight, np.float32(1e-11))
        return sound.reshape(-1)

    def noise(self, start: int, stop: int) -> Spectra:
        """Complex standard normal noise of these frames, [frames, 601]: the same whichever frames are asked for."""
        blocks = range(start // NOISE_BLOCK, (stop - 1) // NOISE_BLOCK + 1)
        # Short chunks ask for the same block several times, and drawing it is a third of what they cost.
        self._drawn = {block: self._drawn[block] if block in self._drawn else self._draw(block) for block in blocks}
        first = start - blocks.start * NOISE_BLOCK
        drawn = np.concatenate(list(self._drawn.values()))
        return drawn.view(np.complex64)[first : first + stop - start]

    def _draw(self, block: int) -> Floats:
        random = np.random.default_rng(seed_words(self._seed, block))
        return random.standard_normal((NOISE_BLOCK, 2 * BINS), np.float32)

    def _spectra(self, start: int, stop: int) -> Spectra:
        """[frames, 601] of the frames `start` to `stop`."""
        cut = np.s_[:, start:stop]
        spectra = rfft(self._pulse_windows(start, stop), axis=1)
        spectra *= _polar(ex(self._harmonic[cut]), np.tanh(self._turn[cut]) * np.float32(np.pi)).T
        spectra += self.noise(start, stop) * ex(self._noise[cut]).T
        spectra += _polar(ex(self._free[cut]), self._phase[cut]).T
        return spectra

    def _pulse_windows(self, start: int, stop: int) -> Floats:
        """Windows of the pulse train around these frames, mirrored at the ends of the clause, [frames, 1200]."""
        count = len(self._pitch)
        around = np.arange(start * HOP - N_FFT // 2, (stop - 1) * HOP + N_FFT // 2)
        around = np.abs(around)
        around = np.where(around >= count, 2 * (count - 1) - around, around)
        pulses = _pulses(self._pitch[around], self._angle[around])
        return np.lib.stride_tricks.sliding_window_view(pulses, N_FFT)[::HOP] * WIN_SRC


def _polar(magnitude: Floats, angle: Floats) -> Spectra:
    made = np.empty(magnitude.shape, np.complex64)
    np.cos(angle, out=made.real)
    np.sin(angle, out=made.imag)
    made *= magnitude
    return made


def _by_sample(pitch: Floats) -> Floats:
    """The pitch of every sample: a straight line from the middle of a frame to the middle of the next."""
    part = (((np.arange(HOP) + 0.5) / HOP - 0.5) % 1.0).astype(np.float32)
    rest = (1.0 - part).astype(np.float32)
    edged = np.pad(np.asarray(pitch, np.float32), 1, mode="edge")
    line = np.empty((len(pitch), HOP), np.float32)
    half = HOP // 2
    line[:, :half] = edged[:-2, None] * rest[:half] + edged[1:-1, None] * part[:half]
    line[:, half:] = edged[1:-1, None] * rest[half:] + edged[2:, None] * part[half:]
    return line.reshape(-1)


def _pulses(pitch: Floats, angle: Floats) -> Floats:
    """Harmonics below `TOP_HZ`, amplitude 1: the sum of cos(h t), h = 1..H, is sin((H + ½) t) / (2 sin(t/2)) − ½."""
    voiced = pitch > VOICED_HZ
    harmonics = np.floor(TOP_HZ / np.maximum(pitch, np.float32(VOICED_HZ))) + np.float32(0.5)
    below = 2 * np.sin(angle * np.float32(0.5))
    peak = np.abs(below) <= 2e-3  # there the quotient has its limit, H + ½
    below[peak] = 1
    train = np.sin(harmonics * angle) / below
    train[peak] = harmonics[peak]
    train -= np.float32(0.5)
    train[~voiced] = 0
    return train
