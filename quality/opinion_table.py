"""Makes the opinion table that controllers use, from measurements: python -m quality.opinion_table --help

Each rung is judged clean by ViSQOL (audio mode, which hears bandwidth and overlooks how coarsely it is coded) and by
PESQ-WB (which hears that, and is deaf above 8 kHz). Both become ratings R of the E-model's fullband scale (ITU-T
G.107.2), whose mean gives Ie. What PESQ loses from clean to lossy is added to it, and Bpl is fitted to that, for random
losses and for bursts of three.
"""

import json
import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from adaptive.codec.opus import OpusDecoder, OpusEncoder
from adaptive.control import emodel
from adaptive.control.plan import Bandwidth, Rung
from adaptive.speech.voice import Samples
from adaptive.ticks import TICK_RATE

from .lab.losses import Losses

TABLE = Path(emodel.__file__).with_name("opinion_table.json")
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
VISQOL_BEST = 4.75
"""MOS-LQO of audio mode for a reference against itself, rounded up."""
PESQ_BEST = 4.644
"""MOS-LQO of a reference against itself (ITU-T P.862.2)."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One measurement: means over texts, voices and seeds."""

    rung: Rung
    loss: float
    burst: float
    lost: float
    """Share of packets really lost."""
    pesq: float
    visqol: float | None
    """Only without loss."""


def rungs() -> list[Rung]:
    """Every operating point that the table holds."""
    return [Rung(bitrate=rate, bandwidth=Bandwidth(band), frame_ms=ms) for rate, band in RATES for ms in FRAMES_MS]


def decoded(samples: Samples, rung: Rung, *, loss: float, burst: float, seed: int) -> tuple[Samples, float]:
    """48 kHz speech through Opus with packets lost, concealed by the decoder; and the share that was lost."""
    encoder, decoder, losses = OpusEncoder(), OpusDecoder(), Losses(f"{seed} table")
    encoder.configure(bitrate=rung.bitrate, bandwidth=rung.bandwidth)
    length, late = rung.frame_ms * TICK_RATE // 1000, encoder.lookahead
    padded = np.pad(samples, (0, late + -(len(samples) + late) % length))
    out, lost = [], 0
    for at in range(0, len(padded), length):
        packet = encoder.encode(padded[at : at + length])
        dead = losses.next(loss=loss, burst=burst, loss_list=())
        lost += dead
        out.append(decoder.decode(None if dead else packet, length))
    encoder.close()
    decoder.close()
    return np.concatenate(out)[late : late + len(samples)], lost * length / len(padded)


def clips() -> list[Samples]:
    """The speech that is judged: each text by each voice, 48 kHz."""
    import adaptive

    return [adaptive.render(text, voice=voice, seed=1).samples for voice in VOICES for text in TEXTS]


def measure(rung: Rung, loss: float, burst: float, speech: Sequence[Samples]) -> Row:
    """One condition over all clips."""
    from .perceptual import pesq_wb, visqol_audio

    seeds = SEEDS if loss else SEEDS[:1]
    pesq, visqol, lost = [], [], []
    for n, clip in enumerate(speech):
        for seed in seeds:
            heard, share = decoded(clip, rung, loss=loss, burst=burst, seed=100 * seed + n)
            pesq.append(pesq_wb(clip, heard, rate=TICK_RATE))
            lost.append(share)
            if not loss:
                visqol.append(visqol_audio(clip, heard, rate=TICK_RATE))
    mean = float(np.mean(visqol)) if visqol else None
    return Row(rung=rung, loss=loss, burst=burst, lost=float(np.mean(lost)), pesq=float(np.mean(pesq)), visqol=mean)


def rating(opinion: float) -> float:
    """R on the narrowband axis of a mean opinion: the inverse of `emodel.mos`, 0..100."""
    low, high = 6.5, 100.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if emodel.mos(middle) < opinion else (low, middle)
    return (low + high) / 2


def fitted(rows: Sequence[Row]) -> dict[str, Any]:
    """The entry of one rung: Ie, both Bpl, and how well they tell the ratings they were fitted to (RMSE, opinion)."""
    scale = emodel.FULLBAND
    clean = next(row for row in rows if not row.loss)
    assert clean.visqol is not None
    judged = [(clean.visqol, VISQOL_BEST), (clean.pesq, PESQ_BEST)]
    ratings = [rating(1 + (score - 1) * 3.5 / (best - 1)) for score, best in judged]
    ie = max(0.0, scale.base - scale.factor * float(np.mean(ratings)))
    entry: dict[str, Any] = {**_rung(clean.rung), "ie": round(ie, 2), "visqol": round(clean.visqol, 3)}
    entry["pesq"] = round(clean.pesq, 3)
    for burst, name in zip(BURSTS, ("bpl", "bpl_bursts"), strict=True):
        lossy = [row for row in rows if row.loss and row.burst == burst and row.lost]
        drops = [scale.factor * (rating(clean.pesq) - rating(row.pesq)) for row in lossy]

        def error(bpl: float, lossy: list[Row] = lossy, drops: list[float] = drops, burst: float = burst) -> float:
            told = [scale.base - _impaired(ie, bpl, row.lost, burst) for row in lossy]
            heard = [scale.base - ie - drop for drop in drops]
            pairs = zip(told, heard, strict=True)
            return math.sqrt(float(np.mean([(scale.opinion(a) - scale.opinion(b)) ** 2 for a, b in pairs])))

        bpl = min(np.geomspace(0.5, 60, 400), key=error)
        entry[name], entry[f"{name}_rmse"] = round(float(bpl), 2), round(error(float(bpl)), 3)
    return entry


def _impaired(ie: float, bpl: float, loss: float, burst: float) -> float:
    ratio = emodel.burst_ratio(loss, burst)
    return emodel.effective_impairment(ie, bpl, loss=loss, burst=ratio, worst=emodel.FULLBAND.worst)


def _rung(rung: Rung) -> dict[str, Any]:
    return {"bitrate": rung.bitrate, "bandwidth": str(rung.bandwidth), "frame_ms": rung.frame_ms}


def _conditions() -> Iterator[tuple[Rung, float, float]]:
    for rung in rungs():
        yield rung, 0.0, 1.0
        for burst in BURSTS:
            yield from ((rung, loss, burst) for loss in LOSSES)


_speech: list[Samples] = []


def _prepare(speech: list[Samples]) -> None:
    _speech[:] = speech


def _measured(condition: tuple[Rung, float, float]) -> Row:
    return measure(*condition, _speech)


def main(
    out: Annotated[Path, typer.Option(help="The table to write.")] = TABLE,
    rows: Annotated[Path | None, typer.Option(help="Keep measurements here, and go on from them.")] = None,
    workers: Annotated[int, typer.Option(help="Processes that measure.")] = 2,
) -> None:
    """Measures every rung under loss and writes the opinion table: minutes on two cores, resumable with --rows."""
    from rich.progress import track

    kept: dict[tuple[Any, ...], Row] = {}
    if rows is not None and rows.exists():
        for line in rows.read_text().splitlines():
            fields = json.loads(line)
            row = Row(**{**fields, "rung": Rung(**fields["rung"])})
            kept[row.rung, row.loss, row.burst] = row
    missing = [condition for condition in _conditions() if condition not in kept]
    speech = clips()
    with ProcessPoolExecutor(workers, get_context("spawn"), initializer=_prepare, initargs=(speech,)) as pool:
        for row in track(pool.map(_measured, missing), total=len(missing), description="Measuring opinions"):
            kept[row.rung, row.loss, row.burst] = row
            if rows is not None:
                with rows.open("a") as file:
                    file.write(json.dumps(asdict(row)) + "\n")
    entries = [fitted([row for key, row in kept.items() if key[0] == rung]) for rung in rungs()]
    settings = {"voices": VOICES, "texts": TEXTS, "losses": LOSSES, "bursts": BURSTS, "seeds": SEEDS}
    table = {"made_by": "python -m quality.opinion_table", "settings": settings, "rungs": entries}
    out.write_text(json.dumps(table, indent=1) + "\n")
    typer.echo(f"{len(entries)} rungs written to {out}")


if __name__ == "__main__":
    typer.run(main)
