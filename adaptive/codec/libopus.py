"""The libopus in reach: found, bound with ctypes, its errors in its own words.

The one inside PyAV's wheel comes first, because aiortc brings it along wherever this package runs; the system's is
taken where PyAV was built against it.
"""

import ctypes
import ctypes.util
import importlib.util
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_WHEEL_PATTERNS = ("../av.libs/libopus*", ".dylibs/libopus*", "../av.libs/opus*.dll")
"""Where auditwheel, delocate and delvewheel put a shared library, relative to the package `av`."""


class OpusError(RuntimeError):
    """libopus refused. `code` is its error number (opus_defines.h), the text says what was asked and its own words."""

    def __init__(self, code: int, what: str) -> None:
        self.code = code
        super().__init__(f"{what}: {load().opus_strerror(code).decode()} ({code})")


def _candidates() -> Iterator[str]:
    spec = importlib.util.find_spec("av")  # found, not imported: FFmpeg stays unloaded
    for folder in spec.submodule_search_locations or () if spec else ():
        for pattern in _WHEEL_PATTERNS:
            parent = Path(folder, pattern).parent.resolve()
            yield from (str(path) for path in sorted(parent.glob(Path(pattern).name)))
    if system := ctypes.util.find_library("opus"):
        yield system


@cache
def load() -> ctypes.CDLL:
    """The bound library. Raises ImportError with what to do when there is none."""
    tried = []
    for candidate in _candidates():
        try:
            return _bind(ctypes.CDLL(candidate))
        except (OSError, AttributeError) as error:
            tried.append(f"{candidate} ({error})")
    raise ImportError(
        "libopus was not found: install PyAV from its wheel (pip install av), or the system's library "
        "(libopus0 on Debian, opus on Homebrew)." + (f" Tried: {'; '.join(tried)}." if tried else "")
    )


def version() -> str:
    """What libopus calls itself, such as `libopus 1.6.1`."""
    return load().opus_get_version_string().decode()


def _bind(lib: ctypes.CDLL) -> ctypes.CDLL:
    """Declares the functions used (opus.h)."""
    pointer, integer, int32, buffer = ctypes.c_void_p, ctypes.c_int, ctypes.c_int32, ctypes.c_char_p
    declarations = {
        "opus_get_version_string": (buffer, []),
        "opus_strerror": (buffer, [integer]),
        "opus_encoder_create": (pointer, [int32, integer, integer, ctypes.POINTER(integer)]),
        "opus_encoder_destroy": (None, [pointer]),
        "opus_encode_float": (int32, [pointer, pointer, integer, pointer, int32]),
        "opus_decoder_create": (pointer, [int32, integer, ctypes.POINTER(integer)]),
        "opus_decoder_destroy": (None, [pointer]),
        "opus_decode_float": (integer, [pointer, buffer, int32, pointer, integer, integer]),
        # Variadic: only the fixed arguments are declared, since on some ABIs variadic ones travel differently.
        "opus_encoder_ctl": (integer, [pointer, integer]),
    }
    for name, (result, arguments) in declarations.items():
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments
    return lib
