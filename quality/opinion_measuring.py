"""Measures speech through the codec under losses, with and without protection: the rows of the opinion table."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from adaptive.codec.opus import OpusDecoder, OpusEncoder
from adaptive.control.plan import Bandwidth, Protection, Rung
from adaptive.speech.voice import Samples
from adaptive.ticks import TICK_RATE

from .lab.losses import Losses

VOICES = ("joe", "heart")
TEXTS = (
    "The quick brown fox jumps over the lazy dog, while many people watch from the bridge.",
    "She had your dark suit in greasy wash water all year, and nobody ever asked her why.",
    "Please remember to bring your umbrella tomorrow, because it will rain until the evening.",
)
RATES = ((12_000, "WB"), (16_000, "WB"), (24_000, "FB"), (32_000, "FB"), (48_000, "FB"))
FRAMES_MS = (20, 40, 60)
LOSSES = (0.01, 0.03, 0.05, 0.1, 0.2)
BURSTS = (1.0, 3.0)
SEEDS = (1, 2)
UNPROTECTED = Protection()
PROTECTIONS = (Protection(copies=(1,)), Protection(copies=(6,)), Protection(fec=True, loss_hint=10))
"""Measured at 20 ms to check what the controller expects of them; nothing is fitted to these rows."""
PROTECTED_LOSSES = (0.05, 0.1, 0.2)
FEC_FROM = 24_000
"""bit/s, of which libopus has room for a copy (RFC 6716 section 2.1.7)."""


@dataclass(frozen=True, kw_only=True)
class Condition:
    """What speech goes through."""

    voice: str
    rung: Rung
    protection: Protection = UNPROTECTED
    loss: float = 0.0
    """Share of the packets."""
    burst: float = 1.0
    """Mean number of packets lost in a row."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One measurement: means over texts and seeds."""

    condition: Condition
    lost: float
    """Share of the packets really lost, before repair."""
    pesq: float
    visqol: float | None
    """Only without loss."""


def rungs() -> list[Rung]:
    """Every operating point that the table holds."""
    return [Rung(bitrate=rate, bandwidth=Bandwidth(band), frame_ms=ms) for rate, band in RATES for ms in FRAMES_MS]


def conditions() -> Iterator[Condition]:
    """All that is measured, in an order that fills the table rung by rung."""
    for rung in rungs():
        for voice in VOICES:
            clean = Condition(voice=voice, rung=rung)
            yield clean
            for burst in BURSTS:
                yield from (replace(clean, loss=loss, burst=burst) for loss in LOSSES)
                if rung.frame_ms != FRAMES_MS[0]:
                    continue
                for protection in PROTECTIONS:
                    if protection.fec and rung.bitrate < FEC_FROM:
                        continue
                    for loss in PROTECTED_LOSSES:
                        yield replace(clean, protection=protection, loss=loss, burst=burst)


def rendered() -> dict[str, list[Samples]]:
    """The speech that is judged, 48 kHz: each text by each voice."""
    import adaptive

    return {voice: [adaptive.render(text, voice=voice, seed=1).samples for text in TEXTS] for voice in VOICES}


def decoded(samples: Samples, condition: Condition, *, seed: int) -> tuple[Samples, float]:
    """48 kHz speech through Opus with packets lost, repaired or concealed; and the share of packets that was lost."""
    encoder, decoder, losses = OpusEncoder(), OpusDecoder(), Losses(f"{seed} table")
    rung, protection = condition.rung, condition.protection
    encoder.configure(
        bitrate=rung.bitrate, bandwidth=rung.bandwidth, fec=protection.fec, loss_hint=protection.loss_hint
    )
    length, late = rung.frame_ms * TICK_RATE // 1000, encoder.lookahead
    padded = np.pad(samples, (0, late + -(len(samples) + late) % length)).reshape(-1, length)
    packets = [encoder.encode(frame) for frame in padded]
    dead = [losses.next(loss=condition.loss, burst=condition.burst, loss_list=()) for _ in packets]
    out = []
    for n, packet in enumerate(packets):
        after = n + 1 < len(packets) and not dead[n + 1]
        if not dead[n] or any(n + d < len(dead) and not dead[n + d] for d in protection.copies):
            out.append(decoder.decode(packet, length))
        elif protection.fec and after:
            out.append(decoder.decode_fec(packets[n + 1], length))
        else:
            out.append(decoder.decode(None, length))
    encoder.close()
    decoder.close()
    return np.concatenate(out)[late : late + len(samples)], sum(dead) / len(dead)


def measure(condition: Condition, speech: Mapping[str, list[Samples]]) -> Row:
    """One condition over all texts."""
    from .perceptual import pesq_wb, visqol_audio

    pesq, visqol, lost = [], [], []
    first = VOICES.index(condition.voice) * len(TEXTS)
    for n, clip in enumerate(speech[condition.voice], first):
        for seed in SEEDS if condition.loss else SEEDS[:1]:
            heard, share = decoded(clip, condition, seed=100 * seed + n)
            pesq.append(pesq_wb(clip, heard, rate=TICK_RATE))
            lost.append(share)
            if not condition.loss:
                visqol.append(visqol_audio(clip, heard, rate=TICK_RATE))
    mean = float(np.mean(visqol)) if visqol else None
    return Row(condition=condition, lost=float(np.mean(lost)), pesq=float(np.mean(pesq)), visqol=mean)
