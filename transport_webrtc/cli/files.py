"""Files that a verb is to write: looked at before any work is done for them."""

from pathlib import Path


def check_writable(path: Path | None) -> None:
    """Raises ValueError with a sentence for a file that cannot be written; None is fine."""
    if path is None:
        return
    if path.is_dir():
        raise ValueError(f"{path} is a folder; name a file in it.")
    if not path.parent.is_dir():
        raise ValueError(f"{path} cannot be written: the folder {path.parent} does not exist.")
