"""Makes the constants of `quality.scale` from measurements: python -m quality.calibrate --help

Speech of both voices goes through the codec at rates, bandwidths and losses. What it is worth is told as in the opinion
table: ViSQOL (audio mode) without loss, less what PESQ-WB loses from clean to lossy, on the E-model's fullband scale.
The constants are fitted to that; how far they hold for a voice that they were not fitted to is told with them.
"""

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, fields
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from adaptive.codec.opus import OpusDecoder, OpusEncoder
from adaptive.control.emodel import FULLBAND
from adaptive.control.fates import Fate
from adaptive.control.plan import Bandwidth, Rung
from adaptive.speech.voice import Samples
from adaptive.ticks import TICK_RATE, to_ticks

from .lab.losses import Losses
from .opinion_fit import VISQOL_BEST, rating
from .scale import CONSTANTS, Scale, Summary
from .shadow import WARM, Carried, Frame, ShadowDecoder

VOICES = ("joe", "heart")
TEXTS = (
    "The quick brown fox jumps over the lazy dog, while many people watch from the bridge.",
    "She had your dark suit in greasy wash water all year, and nobody ever asked her why.",
    "Please remember to bring your umbrella tomorrow, because it will rain until the evening.",
)
RATES = ((12_000, "MB"), (12_000, "WB"), (16_000, "WB"), (24_000, "FB"), (32_000, "FB"), (48_000, "FB"))
"""Also a bandwidth that the ladder does not have, so that every voice lacks something somewhere."""
FRAMES_MS = (20, 60)
LOSSES = (
    *((0.0, 1.0), (0.01, 1.0), (0.03, 1.0), (0.05, 1.0), (0.1, 1.0), (0.2, 1.0)),
    *((0.03, 3.0), (0.05, 3.0), (0.1, 3.0), (0.2, 3.0)),
)
"""(share, mean burst)."""
WINDOW_S = 2.0
"""The stretch that a shadow judges."""
LOOKAHEAD = 312
"""Ticks; of Opus for speech at 48 kHz (libopus, OPUS_GET_LOOKAHEAD)."""
STRETCH = to_ticks(0.2)
START = (20.0, 400.0, 0.05, 0.18, 0.9)
"""Of the search for the constants."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One clip under one condition."""

    voice: str
    text: int
    rung: Rung
    loss: float
    burst: float
    pesq: float
    visqol: float | None
    """Only without loss."""
    whole: Summary
    windows: tuple[Summary, ...]


_speech: dict[tuple[str, int], Samples] = {}


def _prepare(speech: dict[tuple[str, int], Samples]) -> None:
    _speech.update(speech)


def _measured(condition: tuple[str, int, Rung, float, float]) -> Row:
    from .perceptual import pesq_wb, visqol_audio

    voice, text, rung, loss, burst = condition
    frames, carried = _sent(_speech[voice, text], rung, loss, burst, seed=text)
    said = np.concatenate([frame.samples for frame in frames])
    heard = _received(frames, carried)
    step = (to_ticks(WINDOW_S) + WARM) // len(frames[0].samples)
    starts = range(0, len(frames) - step + 1, step)
    windows = (_shadow(frames[at : at + step], carried[at : at + step]) for at in starts)
    whole = _shadow(frames, carried)
    assert whole is not None
    return Row(
        voice=voice,
        text=text,
        rung=rung,
        loss=loss,
        burst=burst,
        pesq=pesq_wb(said, heard, rate=TICK_RATE),
        visqol=None if loss else visqol_audio(said, heard, rate=TICK_RATE),
        whole=whole,
        windows=tuple(window for window in windows if window is not None),
    )


def _sent(said: Samples, rung: Rung, loss: float, burst: float, seed: int) -> tuple[list[Frame], list[Carried]]:
    encoder, losses = OpusEncoder(), Losses(f"{seed} scale")
    encoder.configure(bitrate=rung.bitrate, bandwidth=rung.bandwidth)
    length = rung.frame_ms * TICK_RATE // 1000
    frames, carried = [], []
    for at in range(0, len(said) - length + 1, length):
        samples = said[at : at + length]
        frames.append(Frame(timestamp=at, samples=samples, packet=encoder.encode(samples)))
        lost = losses.next(loss=loss, burst=burst, loss_list=())
        carried.append(Carried(timestamp=at, fate=Fate(known=True, delay_s=None if lost else 0.0)))
    return frames, carried


def _received(frames: Sequence[Frame], carried: Sequence[Carried]) -> Samples:
    """What a receiver plays, aligned with what was said."""
    decoder = OpusDecoder()
    heard = [
        decoder.decode(None if packet.fate.delay_s is None else frame.packet, len(frame.samples))
        for frame, packet in zip(frames, carried, strict=True)
    ]
    return np.pad(np.concatenate(heard)[LOOKAHEAD:], (0, LOOKAHEAD))


def _shadow(frames: Sequence[Frame], carried: Sequence[Carried]) -> Summary | None:
    shadow = ShadowDecoder(frames, carried, allowance_s=0.0, lookahead=LOOKAHEAD)
    while shadow.work(STRETCH):
        pass
    return shadow.summary()


def _conditions() -> Iterator[tuple[str, int, Rung, float, float]]:
    for bitrate, band in RATES:
        for frame_ms in FRAMES_MS:
            rung = Rung(bitrate=bitrate, bandwidth=Bandwidth(band), frame_ms=frame_ms)
            for voice in VOICES:
                for text in range(len(TEXTS)):
                    yield from ((voice, text, rung, loss, burst) for loss, burst in LOSSES)


def opinions(rows: Sequence[Row]) -> NDArray[np.float64]:
    """What each row is worth, told by ViSQOL and PESQ."""
    clean = [row for row in rows if not row.loss]

    def mean(kind: str, of: list[Row]) -> float:
        return float(np.mean([getattr(row, kind) for row in of]))

    found = []
    for row in rows:
        same = [c for c in clean if (c.voice, c.rung) == (row.voice, row.rung)]
        opinion = 1 + (mean("visqol", same) - 1) * 3.5 / (VISQOL_BEST - 1)
        fall = rating(mean("pesq", [c for c in same if c.text == row.text])) - rating(row.pesq)
        found.append(FULLBAND.opinion(FULLBAND.factor * (rating(opinion) - max(0.0, fall))))
    return np.array(found)


def fitted(rows: Sequence[Row], worth: NDArray[np.float64]) -> Scale:
    """The constants that tell these opinions best."""
    from scipy.optimize import least_squares

    def errors(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return told(_scale(values), rows) - worth

    limits = ([0, 50, 0, 0.005, 0.3], [40, 2000, 0.3, 1, 2])
    return _scale([round(float(value), 4) for value in least_squares(errors, START, x_scale=START, bounds=limits).x])


def _scale(values: Sequence[float] | NDArray[np.float64]) -> Scale:
    return Scale(**dict(zip((field.name for field in fields(Scale)), map(float, values), strict=True)))


def told(scale: Scale, rows: Sequence[Row]) -> NDArray[np.float64]:
    """What the scale says of whole clips."""
    return np.array([scale.opinion(row.whole) for row in rows])


def rmse(errors: NDArray[np.float64]) -> float:
    """Root mean square, of opinions."""
    return round(float(np.sqrt(np.mean(errors**2))), 3)


def trust(rows: Sequence[Row], worth: NDArray[np.float64], scale: Scale) -> dict[str, Any]:
    """How far the scale is from the truth: on all rows, on voices left out of the fit, and by windows."""
    voice = np.array([row.voice for row in rows])
    lossy = np.array([row.loss > 0 for row in rows])
    left_out, unseen = {}, np.empty(len(rows))
    for name in VOICES:
        others, own = voice != name, voice == name
        fit = fitted([row for row, use in zip(rows, others, strict=True) if use], worth[others])
        mine = [row for row, use in zip(rows, own, strict=True) if use]
        unseen[own] = told(fit, mine) - worth[own]
        left_out[name] = rmse(unseen[own])
    errors = told(scale, rows) - worth
    windows = [
        scale.opinion(window) - is_worth for row, is_worth in zip(rows, worth, strict=True) for window in row.windows
    ]
    return {
        "rows": len(rows),
        "rmse": rmse(errors),
        "rmse_clean": rmse(errors[~lossy]),
        "rmse_lossy": rmse(errors[lossy]),
        "rmse_voice_left_out": left_out,
        "rmse_left_out": rmse(unseen),
        "rmse_left_out_by_loss": _by_loss(rows, unseen),
        "rmse_windows_against_whole": rmse(np.array(windows)),
        "correlation": round(float(np.corrcoef(told(scale, rows), worth)[0, 1]), 3),
    }


def _by_loss(rows: Sequence[Row], errors: NDArray[np.float64]) -> dict[str, dict[str, float]]:
    """Of each voice, left out of the fit, by share lost and mean burst."""
    cells: dict[str, dict[str, float]] = {}
    for voice in VOICES:
        for loss, burst in LOSSES:
            here = [(row.voice, row.loss, row.burst) == (voice, loss, burst) for row in rows]
            if any(here):
                cells.setdefault(voice, {})[f"{loss:g} in bursts of {burst:g}"] = rmse(errors[here])
    return cells


def _row(line: str) -> Row:
    found = json.loads(line)
    parts = {"rung": Rung(**found["rung"]), "whole": Summary(**found["whole"])}
    return Row(**{**found, **parts, "windows": tuple(Summary(**window) for window in found["windows"])})


def _rendered() -> dict[tuple[str, int], Samples]:
    import adaptive

    return {
        (voice, n): adaptive.render(text, voice=voice, seed=1).samples
        for voice in VOICES
        for n, text in enumerate(TEXTS)
    }


def main(
    out: Annotated[Path, typer.Option(help="The constants to write.")] = CONSTANTS,
    rows: Annotated[Path | None, typer.Option(help="Keep measurements here, and go on from them.")] = None,
    workers: Annotated[int, typer.Option(help="Processes that measure.")] = 2,
) -> None:
    """Measures speech under coding and loss and writes the scale's constants: minutes on two cores."""
    from rich.progress import track

    kept = [_row(line) for line in rows.read_text().splitlines()] if rows is not None and rows.exists() else []
    known = {(row.voice, row.text, row.rung, row.loss, row.burst) for row in kept}
    missing = [condition for condition in _conditions() if condition not in known]
    speech = _rendered() if missing else {}
    with ProcessPoolExecutor(workers, get_context("spawn"), initializer=_prepare, initargs=(speech,)) as pool:
        for row in track(pool.map(_measured, missing), total=len(missing), description="Measuring the scale"):
            kept.append(row)
            if rows is not None:
                with rows.open("a") as file:
                    file.write(json.dumps(asdict(row)) + "\n")
    worth = opinions(kept)
    scale = fitted(kept, worth)
    settings = {"voices": VOICES, "texts": TEXTS, "rates": RATES, "frames_ms": FRAMES_MS, "losses": LOSSES}
    trusted = trust(kept, worth, scale)
    told_by = {"made_by": "python -m quality.calibrate", "settings": settings, "trust": trusted, "scale": asdict(scale)}
    out.write_text(json.dumps(told_by, indent=1) + "\n")
    typer.echo(json.dumps({"scale": asdict(scale), "trust": trusted}))


if __name__ == "__main__":
    typer.run(main)
