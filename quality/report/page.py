"""A report as one HTML file that needs no other: pictures and sound are in it, and no script."""

import base64
import html
import io
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from .comparing import Comparison, is_number
from .model import Recording, Report, Table, label, shown

SHORT_ROWS = 30
"""A longer table is shown when asked for."""
STYLE = (files("quality.report") / "style.css").read_text(encoding="utf-8")


def page(report: Report, folder: Path) -> str:
    """The page of a report whose files are in `folder`; what is no longer there is said to be missing."""
    parts = [
        _head(report.title, report.says, report.made),
        _section("Figures", _figures(report.figures)),
        _section("Pictures", "".join(_picture(folder / p.file, p.caption) for p in report.pictures)),
        *(_section(table.title, _table(table)) for table in report.tables),
        _section("Recordings", "".join(_player(folder, recording) for recording in report.recordings)),
        _section("Settings", _pairs(report.settings) + _command(report.command)),
        _section("Seeds and versions", _pairs({"seeds": report.seeds or None, **report.versions})),
    ]
    return _document(report.title, parts)


def comparison_page(comparison: Comparison, *, picture: bytes | None, first: Path, second: Path) -> str:
    """The page of two reports, in the folders `first` and `second`, side by side."""
    a, b = comparison.first, comparison.second
    title = f"{a.title}: two runs"
    shown_figures = [
        {
            "figure": " ".join(filter(None, label(name))),
            "first": x,
            "second": y,
            "difference": y - x if is_number(x) and is_number(y) else None,
        }
        for name, x, y in comparison.figures
    ]
    settings = tuple({"setting": name, "first": shown(x), "second": shown(y)} for name, x, y in comparison.settings)
    changed = (
        "" if picture is None else _image(picture, "By how much each figure changed, in percent of the first run.")
    )
    pairs = [
        f'<div class="pair">{_picture(first / p.file, f"First: {p.caption}")}'
        f"{_picture(second / q.file, f'Second: {q.caption}')}</div>"
        for p in a.pictures
        for q in b.pictures
        if p.file == q.file
    ]
    parts = [
        _head(title, f"First: {a.title}, {a.made}, in {first}. Second: {b.title}, {b.made}, in {second}.", ""),
        _section("What was set otherwise", _table(Table(title="", rows=settings)) or "<p>Nothing.</p>"),
        _section("Figures", changed + _table(Table(title="", rows=tuple(shown_figures)))),
        _section("Pictures", "".join(pairs)),
        *(_section(table.title, _table(table)) for table in comparison.tables),
    ]
    return _document(title, parts)


def _document(title: str, parts: Iterable[str]) -> str:
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="icon" href="data:,"><title>{html.escape(title)}</title><style>{STYLE}</style></head>\n'
        f"<body><main>{''.join(parts)}</main></body></html>\n"
    )


def _head(title: str, says: str, made: str) -> str:
    when = f'<p class="made">{html.escape(made)}</p>' if made else ""
    return f"<header><h1>{html.escape(title)}</h1><p>{html.escape(says)}</p>{when}</header>\n"


def _section(title: str, body: str) -> str:
    return f"<section><h2>{html.escape(title)}</h2>{body}</section>\n" if body else ""


def _figures(figures: Mapping[str, Any]) -> str:
    cells = []
    for name, value in figures.items():
        words, unit = label(name)
        cells.append(
            f"<div><dt>{html.escape(words)}</dt><dd>{html.escape(shown(value))}"
            f"{f' <small>{unit}</small>' if unit and value is not None else ''}</dd></div>"
        )
    return f'<dl class="figures">{"".join(cells)}</dl>' if cells else ""


def _table(table: Table) -> str:
    if not table.rows:
        return ""
    columns = table.columns
    heads = "".join(f"<th>{_headed(name)}</th>" for name in columns)
    lines = "".join(f"<tr>{_cells(row, columns)}</tr>" for row in table.rows)
    body = f'<div class="wide"><table><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table></div>'
    if len(table.rows) <= SHORT_ROWS:
        return body
    return f"<details><summary>{len(table.rows)} rows</summary>{body}</details>"


def _headed(name: str) -> str:
    words, unit = label(name)
    return html.escape(words) + (f"<br><small>{unit}</small>" if unit else "")


def _cells(row: Mapping[str, Any], columns: Sequence[str]) -> str:
    return "".join(
        f"<td{' class=number' if is_number(row.get(name)) else ''}>{html.escape(shown(row.get(name)))}</td>"
        for name in columns
    )


def _pairs(pairs: Mapping[str, Any]) -> str:
    known = [(name, value) for name, value in pairs.items() if value is not None]
    lines = "".join(
        f"<tr><th>{html.escape(name)}</th><td>{html.escape(shown(value))}</td></tr>" for name, value in known
    )
    return f'<table class="pairs"><tbody>{lines}</tbody></table>' if lines else ""


def _command(command: str) -> str:
    return f"<p>Made by</p><pre>{html.escape(command)}</pre>" if command else ""


def _picture(path: Path, caption: str) -> str:
    if not path.is_file():
        return f"<p>{html.escape(caption)}: {html.escape(path.name)} is missing.</p>"
    return _image(path.read_bytes(), caption)


def _image(png: bytes, caption: str) -> str:
    told = html.escape(caption)
    return f'<figure><img alt="{told}" src="{_uri("image/png", png)}"><figcaption>{told}</figcaption></figure>'


def _player(folder: Path, recording: Recording) -> str:
    told = html.escape(recording.caption)
    path = folder / recording.file
    if not path.is_file():
        return f"<p>{told}: {html.escape(path.name)} is missing.</p>"
    return (
        f'<figure class="sound"><figcaption>{told}</figcaption>'
        f'<audio controls preload="metadata" src="{_uri("audio/flac", _flac(path))}"></audio></figure>'
    )


def _flac(path: Path) -> bytes:
    """Lossless, half as large, and played by every browser: what is heard is what was recorded."""
    import av

    buffer = io.BytesIO()
    with av.open(str(path)) as wav, av.open(buffer, "w", format="flac") as flac:
        source = wav.streams.audio[0]
        sink = flac.add_stream("flac", rate=source.rate, layout=source.layout.name)
        for frame in wav.decode(source):
            flac.mux(sink.encode(frame))
        flac.mux(sink.encode(None))
    return buffer.getvalue()


def _uri(kind: str, data: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"
