"""How a model is opened for rendering: few threads, no memory that grows with the longest clause."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import onnxruntime

DEFAULT_THREADS = 1


def threads() -> int:
    """Threads that one model runs on: `LEGATO_RENDER_THREADS`, else 1. Raises ValueError for anything below 1."""
    text = os.environ.get("LEGATO_RENDER_THREADS", str(DEFAULT_THREADS))
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"LEGATO_RENDER_THREADS must be a whole number of at least 1, not {text!r}.")
    return int(text)


def open_session(model: Path | bytes) -> "onnxruntime.InferenceSession":
    """A session on the CPU. Threads do not spin between runs: other workers share the cores."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads()
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Patterns are kept for every length that was ever run, and every chunk may have another one.
    options.enable_mem_pattern = False
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    source = str(model) if isinstance(model, Path) else model
    return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
