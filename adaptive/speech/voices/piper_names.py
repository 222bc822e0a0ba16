"""How a Piper voice of the operator's own is named: `piper:FILE.onnx`, with `#SPEAKER` where it has several."""

from pathlib import Path

PREFIX = "piper:"
"""Before a path, where a voice is named."""


def parsed(spec: str) -> tuple[Path, str | None]:
    """The file and the speaker of `piper:FILE.onnx` or `piper:FILE.onnx#SPEAKER`."""
    told = spec.removeprefix(PREFIX)
    path, hash_sign, speaker = told.rpartition("#")
    if hash_sign and not Path(told).is_file():
        return Path(path).expanduser(), speaker
    return Path(told).expanduser(), None


def name_of(spec: str) -> str:
    """How listeners call the voice: the file's own name and the speaker, without where it lies on this machine."""
    path, speaker = parsed(spec)
    return path.name.removesuffix(".onnx") + (f"-{speaker}" if speaker is not None else "")


def missing(spec: str) -> str | None:
    """A sentence where one of its files is not there; else None."""
    path, _ = parsed(spec)
    for file, what in ((path, "the model"), (config_of(path), "its configuration, which Piper keeps beside the model")):
        if not file.is_file():
            return f"There is no file {file}: {what}."
    return None


def config_of(path: Path) -> Path:
    """`FILE.onnx.json`."""
    return path.with_name(path.name + ".json")
