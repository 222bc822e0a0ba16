"""The one place that imports torchaudio; everything else says ``from …torchaudio_import import torchaudio``.

torchaudio's wheels on PyPI link CUDA libraries and fail to load beside a torch built for the CPU, although resampling
and the spectrogram transforms are written in Python on top of torch. Where that library cannot load, the module
that loads it is replaced by one that says the compiled operators are missing, and torchaudio works without them.
"""

import importlib
import sys
import types
from collections.abc import Callable
from typing import Any, NoReturn

_EXTENSION = "torchaudio._extension"


def _without_extension(reason: str) -> types.ModuleType:
    """A stand-in for torchaudio's own loader; its names are those that torchaudio 2.9 to 2.11 import from it."""

    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise RuntimeError(f"torchaudio's compiled operators are not available here: {reason}")

    def fail_if_no_align(_: Callable[..., Any]) -> Callable[..., NoReturn]:
        return refuse

    module = types.ModuleType(_EXTENSION)
    vars(module).update(
        _IS_TORCHAUDIO_EXT_AVAILABLE=False,
        _IS_ALIGN_AVAILABLE=False,
        _check_cuda_version=lambda: None,
        fail_if_no_align=fail_if_no_align,
    )
    return module


def _import() -> Any:
    try:
        return importlib.import_module("torchaudio")
    except (OSError, ImportError) as error:
        if isinstance(error, ModuleNotFoundError) and error.name in {"torchaudio", "torch"}:
            raise
        reason = str(error)
    for name in [name for name in sys.modules if name.split(".")[0] == "torchaudio"]:
        del sys.modules[name]
    sys.modules[_EXTENSION] = _without_extension(reason)
    return importlib.import_module("torchaudio")


torchaudio = _import()
