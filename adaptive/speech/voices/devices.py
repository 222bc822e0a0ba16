"""Where models compute: `LEGATO_DEVICE` is cpu, cuda or auto. Nothing heavy is imported to find no GPU."""

import ctypes
import os
from functools import cache

DEVICES = ("auto", "cpu", "cuda")


def device() -> str:
    """`cpu` or `cuda`; `auto`, the default, is cuda where there is one. Raises ValueError for another word, and for
    cuda where there is none."""
    asked = os.environ.get("LEGATO_DEVICE", "auto").lower() or "auto"
    if asked not in DEVICES:
        raise ValueError(f"The device is {', '.join(DEVICES[:-1])} or {DEVICES[-1]}, not {asked!r}.")
    if asked == "cpu":
        return "cpu"
    if _cuda():
        return "cuda"
    if asked == "cuda":
        raise ValueError(
            "There is no CUDA device that torch can use here. Install a torch built for CUDA, or take --device auto."
        )
    return "cpu"


@cache
def _cuda() -> bool:
    """Whether torch can use a GPU. It is imported only where the driver's library is."""
    library = "nvcuda.dll" if os.name == "nt" else "libcuda.so.1"
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    import torch

    return torch.cuda.is_available()
