"""Addresses: web, e-mail, IP, and the names of files. A scheme is not read; the marks are, in the reader's language."""

import re
from collections.abc import Callable, Mapping

_DOMAINS = (
    "com org net edu gov mil int info biz name dev app ai io co cn uk de fr jp us ca au eu tv me ly ch nl"
    " it es se no fi dk pl ru in br kr tw hk sg nz at be ie cloud online site tech xyz test example"
)
_FILES = (
    "avi bmp c cpp cs css csv db dll doc docx exe flac gif go gz h htm html ini iso jar java jpeg jpg js"
    " json log md mkv mov mp3 mp4 ogg onnx pdf php png ppt pptx py rar rb rs rtf sh sql svg tar toml ts"
    " txt wav webm xls xlsx xml yaml yml zip"
)
_TAIL = r"(?:/[\w~%+=&@:;?#./-]*[\w=/])?(?:\?[\w~%+=&@:;./-]*[\w=])?(?:#[\w/.-]*\w)?"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?"
_DOT = r"(?<![A-Za-z0-9_@./-])"
ADDRESS = re.compile(
    rf"{_DOT}(?:(?P<mail>(?:mailto:)?[A-Za-z0-9](?:[\w.+-]*[A-Za-z0-9])?@(?:{_LABEL}\.)+[A-Za-z]{{2,}})"
    rf"|(?:https?|ftps?|wss?)://(?P<full>[A-Za-z0-9](?:[\w.-]*\w)?(?::\d{{1,5}})?{_TAIL})"
    rf"|(?P<host>(?:www\.(?:{_LABEL}\.)*[A-Za-z]{{2,}}|(?:{_LABEL}\.)+(?:{'|'.join(_DOMAINS.split())}))(?::\d{{1,5}})?"
    rf"{_TAIL})"
    rf"|(?P<ip>\d{{1,3}}(?:\.\d{{1,3}}){{3}}(?::\d{{1,5}})?(?:/\d{{1,2}})?)"
    rf"|(?P<file>(?:~?/)?[A-Za-z0-9_](?:[\w/-]*\w)?(?:\.[A-Za-z0-9_-]+)*\.(?:{'|'.join(_FILES.split())})))"
    r"(?![A-Za-z0-9_@])"
)
"""Groups `mail`, `full` (behind its scheme), `host`, `ip` and `file`."""


def spoken(
    match: re.Match[str], *, marks: Mapping[str, str], word: Callable[[str], str], digits: Callable[[str], str]
) -> str:
    """Part by part, with spaces between. `marks` holds how each mark is read; others are left out. `word` reads a run
    of letters and `digits` one of digits, which gets those of an IP address and a port with spaces between."""
    kind = match.lastgroup or "full"
    text = match.group(kind).removeprefix("mailto:")
    text = text[:-1] if text.endswith("/") else text
    numeric = re.match(r"[\d.:/]*$|[^/]*:\d+", text)
    parts = []
    for part in re.findall(r"[^\W\d_]+|\d+|[\W_]", text):
        if part.isdigit():
            parts.append(digits(" ".join(part) if numeric else part))
        elif part.isalpha():
            parts.append(word(part))
        else:
            parts.append(marks.get(part, " "))
    return " " + " ".join(" ".join(parts).split()) + " "
