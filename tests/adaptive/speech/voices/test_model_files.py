"""Building once, whole or not at all, between real processes."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from adaptive.speech.voice import Progress
from adaptive.speech.voices import model_files
from adaptive.speech.voices.model_files import ModelFilesError, ensure, intact

BUILDER = """
import sys, time
from pathlib import Path
from adaptive.speech.voices.model_files import ensure

def build(directory, progress):
    with open(sys.argv[2], "a") as log:
        log.write("built\\n")
    (directory / "part").write_bytes(b"x" * 1000)
    time.sleep(0.5)
    (directory / "rest").write_bytes(b"y" * 1000)

print(ensure("v", source=Path(sys.argv[1]), version="1", build=build, progress=lambda what, done: print(what)))
"""


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LEGATO_CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "model"
    path.write_bytes(b"weights")
    return path


@pytest.fixture
def build() -> Callable[[Path, Progress], None]:
    def write(directory: Path, progress: Progress) -> None:
        progress("half of it", 0.5)
        (directory / "a").write_bytes(b"a" * 5000)
        (directory / "b").write_bytes(b"b" * 5000)

    return write


def test_builds_once_and_tells_how_far_it_is(source: Path, build) -> None:
    told: list[tuple[str, float]] = []
    directory = ensure("v", source=source, version="1", build=build, progress=lambda *news: told.append(news))
    assert [done for _, done in told] == [0, 0.5, 1]
    assert (directory / "a").read_bytes() == b"a" * 5000
    told.clear()
    assert ensure("v", source=source, version="1", build=build, progress=lambda *news: told.append(news)) == directory
    assert told == []


def test_another_version_or_another_source_is_another_directory(source: Path, build) -> None:
    first = ensure("v", source=source, version="1", build=build)
    second = ensure("v", source=source, version="2", build=build)
    source.write_bytes(b"other weights")
    third = ensure("v", source=source, version="1", build=build)
    assert len({first, second, third}) == 3


@pytest.mark.parametrize(
    "damage",
    [
        lambda directory: (directory / "a").write_bytes(b"a" * 4000),
        lambda directory: (directory / "a").write_bytes(b"z" * 5000),
        lambda directory: (directory / "b").unlink(),
        lambda directory: (directory / model_files.MANIFEST).write_text("{"),
        lambda directory: (directory / model_files.MANIFEST).unlink(),
    ],
    ids=["truncated", "changed", "missing", "half a manifest", "no manifest"],
)
def test_damaged_files_are_found_and_built_again(source: Path, build, damage) -> None:
    directory = ensure("v", source=source, version="1", build=build)
    damage(directory)
    assert not intact(directory)
    assert ensure("v", source=source, version="1", build=build) == directory
    assert intact(directory)


def test_two_processes_build_once_and_both_have_it(source: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    command = [sys.executable, "-c", BUILDER, str(source), str(log)]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = [process.communicate(timeout=60)[0].splitlines() for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert log.read_text() == "built\n"
    assert said[0][-1] == said[1][-1]
    assert intact(Path(said[0][-1]))


def test_a_killed_build_leaves_nothing_that_counts(source: Path, tmp_path: Path, build) -> None:
    log = tmp_path / "log"
    process = subprocess.Popen([sys.executable, "-c", BUILDER, str(source), str(log)], stdout=subprocess.PIPE)
    while not log.exists():
        assert process.poll() is None
    process.kill()
    process.communicate()
    directory = ensure("v", source=source, version="1", build=build)
    assert (directory / "a").exists()
    assert [entry.name for entry in directory.parent.iterdir() if entry.is_dir()] == [directory.name]


def test_a_build_that_fails_leaves_nothing(source: Path, tmp_path: Path) -> None:
    def fail(directory: Path, progress: Progress) -> None:
        (directory / "a").write_bytes(b"a")
        raise ValueError("This is not a model.")

    with pytest.raises(ValueError, match="not a model"):
        ensure("v", source=source, version="1", build=fail)
    assert not [entry for entry in (tmp_path / "cache").iterdir() if entry.is_dir()]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_said_in_a_sentence(source: Path) -> None:
    def fill(directory: Path, progress: Progress) -> None:
        Path("/dev/full").write_bytes(b"x")

    with pytest.raises(ModelFilesError, match=r"The disk is full: the voice v needs .* Make room there or .*CACHE_DIR"):
        ensure("v", source=source, version="1", build=fill)


def test_a_cache_that_cannot_be_made_is_said_in_a_sentence(source: Path, build, monkeypatch) -> None:
    monkeypatch.setenv("LEGATO_CACHE_DIR", str(source / "below a file"))
    with pytest.raises(ModelFilesError, match=r"The voice v cannot keep its files: .* or name another directory in"):
        ensure("v", source=source, version="1", build=build)


def test_the_cache_is_the_users_unless_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("LEGATO_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    assert model_files.cache_root() == tmp_path / "legato"
