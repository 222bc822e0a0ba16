"""What was said before runs no model; what is kept stays within its limits; what is damaged is rendered again."""

import logging
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from adaptive.speech.cache import CachedVoice, ClauseCache, KeptClause
from adaptive.speech.cache_files import SUFFIX, FileShelf
from adaptive.speech.stream import SpeechStream
from adaptive.speech.voice import SwitchPoint, Word
from adaptive.speech.voices import tone


class Counted(tone.ToneVoice):
    """The tone, counting what it is asked for."""

    fingerprint: str | None = "1"

    def __init__(self, **how) -> None:
        super().__init__(**how)
        self.prepared: list[str] = []

    def prepare(self, clause, *, speed=1.0, seed=0, tier=None):
        self.prepared.append(clause)
        return super().prepare(clause, speed=speed, seed=seed, tier=tier)


def spoken(voice, text="Turn left now. Then go straight on.", tier="light", **how) -> np.ndarray:
    stream = SpeechStream(voice, **how)
    stream.feed(text, final=True)
    events = []
    while not stream.done:
        events += stream.next(tier=tier)
    return np.concatenate([event.samples for event in events if hasattr(event, "samples")])


def clause(seconds: float = 1.0, level: float = 0.1) -> KeptClause:
    whole = np.full(round(48_000 * seconds), level, np.float32)
    words = (Word(text="wörd", start=0, end=9, estimated=True),)
    return KeptClause(frames=50, words=words, runs={("full", 0, 20, 2): whole[:900], ("light", 20, 30, 2): whole[900:]})


def test_what_is_said_again_is_the_same_and_asks_the_voice_for_nothing() -> None:
    inner = Counted()
    voice = CachedVoice(inner, ClauseCache())
    first = spoken(voice)
    assert np.array_equal(first, spoken(inner))
    inner.prepared.clear()
    assert np.array_equal(first, spoken(voice))
    assert inner.prepared == []


@pytest.mark.parametrize("how", [{"speed": 1.5}, {"seed": 9}, {"tier": "full"}, {"text": "Turn right now."}])
def test_what_differs_in_anything_is_rendered(how) -> None:
    inner = Counted()
    voice = CachedVoice(inner, ClauseCache())
    spoken(voice)
    inner.prepared.clear()
    other = spoken(voice, **how)
    assert inner.prepared
    assert np.array_equal(other, spoken(inner, **how))


def test_a_clause_that_changed_its_tier_is_kept_as_it_was_cut_and_goes_on_right() -> None:
    inner = Counted()
    voice = CachedVoice(inner, ClauseCache())

    def mixed(from_voice, *cuts) -> np.ndarray:
        prepared = from_voice.prepare("One clause of some length here.")
        return np.concatenate([prepared.decode(start, count, tier=tier, tail=3) for start, count, tier in cuts])

    cuts = [(0, 20, "light"), (20, 30, "full")]
    first = mixed(voice, *cuts)
    inner.prepared.clear()
    assert np.array_equal(mixed(voice, *cuts), first)
    assert inner.prepared == []
    other = [(0, 20, "light"), (20, 9, "full"), (29, 5, "light")]
    assert np.array_equal(mixed(voice, *other), mixed(inner, *other))


def test_what_was_interrupted_goes_on_from_the_voice() -> None:
    inner = Counted()
    voice = CachedVoice(inner, ClauseCache())
    stream = SpeechStream(voice)
    stream.feed("Cut off in the middle.", final=True)
    stream.next(tier="full")
    assert np.array_equal(spoken(voice, "Cut off in the middle."), spoken(inner, "Cut off in the middle."))


def test_what_is_handed_out_is_not_what_is_kept() -> None:
    """Whoever fades samples in place must not fade them for the next one."""
    voice = CachedVoice(Counted(), ClauseCache())
    prepared = voice.prepare("Faded.")
    first = prepared.decode(0, 5, tier="full")
    first *= 0
    assert np.any(prepared.decode(0, 5, tier="full"))


def test_frames_that_are_not_there_are_refused_kept_or_not() -> None:
    voice = CachedVoice(Counted(), ClauseCache())
    for _ in range(2):
        prepared = voice.prepare("Ask for too much.")
        prepared.decode(0, prepared.frames, tier="full")
        with pytest.raises(ValueError, match="Frames"):
            prepared.decode(prepared.frames - 1, 2, tier="full")


def test_memory_is_bounded_and_what_was_not_asked_for_longest_goes() -> None:
    cache = ClauseCache(limit=3 * clause().nbytes)
    for name in "abc":
        cache.put(name, clause(), shelved=False)
    assert cache.get("a", shelved=False)
    cache.put("d", clause(), shelved=False)
    assert cache.get("b", shelved=False) is None
    assert all(cache.get(name, shelved=False) for name in "acd")
    cache.put("whale", clause(seconds=9), shelved=False)
    assert cache.bytes <= cache.limit


def test_a_voice_that_changes_at_clauses_is_told_its_tier_and_keeps_each() -> None:
    inner = Counted(info=replace(tone.INFO, switch=SwitchPoint.CLAUSE))
    voice = CachedVoice(inner, ClauseCache())
    full, light = spoken(voice, tier="full"), spoken(voice, tier="light")
    inner.prepared.clear()
    assert np.array_equal(spoken(voice, tier="light"), light)
    assert np.array_equal(spoken(voice, tier="full"), full)
    assert inner.prepared == []


def test_another_process_finds_it_on_the_disk(tmp_path: Path) -> None:
    first = spoken(CachedVoice(Counted(), ClauseCache(shelf=FileShelf(tmp_path / "kept"))))
    assert (tmp_path / "kept").stat().st_mode & 0o077 == 0
    inner = Counted()
    again = CachedVoice(inner, ClauseCache(shelf=FileShelf(tmp_path / "kept")))
    assert np.array_equal(spoken(again), first)
    assert inner.prepared == []


@pytest.mark.parametrize("fingerprint", ["2", None])
def test_another_voice_under_the_same_name_does_not_find_it(tmp_path: Path, fingerprint: str | None) -> None:
    spoken(CachedVoice(Counted(), ClauseCache(shelf=FileShelf(tmp_path))))
    other = Counted()
    other.fingerprint = fingerprint
    spoken(CachedVoice(other, ClauseCache(shelf=FileShelf(tmp_path))))
    assert len(other.prepared) == 2


def damage(path: Path, how: str) -> None:
    data = path.read_bytes()
    match how:
        case "truncated":
            path.write_bytes(data[: len(data) // 2])
        case "emptied":
            path.write_bytes(b"")
        case "poisoned":
            path.write_bytes(data[:-40] + bytes(40))
        case "another's":
            path.write_bytes(b"PK\x03\x04" + data)


@pytest.mark.parametrize("how", ["truncated", "emptied", "poisoned", "another's"])
def test_a_damaged_file_is_rendered_again_and_replaced(tmp_path: Path, how: str, caplog) -> None:
    first = spoken(CachedVoice(Counted(), ClauseCache(shelf=FileShelf(tmp_path))))
    for path in tmp_path.glob(f"*{SUFFIX}"):
        damage(path, how)
    inner = Counted()
    with caplog.at_level(logging.WARNING):
        assert np.array_equal(spoken(CachedVoice(inner, ClauseCache(shelf=FileShelf(tmp_path)))), first)
    assert len(inner.prepared) == 2
    assert "damaged" in caplog.text
    healed = Counted()
    spoken(CachedVoice(healed, ClauseCache(shelf=FileShelf(tmp_path))))
    assert healed.prepared == []


def test_the_disk_is_bounded_and_what_was_used_longest_ago_goes(tmp_path: Path) -> None:
    shelf = FileShelf(tmp_path, limit=round(3.5 * clause().nbytes))
    for number, name in enumerate("abc"):
        shelf.put(name, clause())
        os.utime(tmp_path / f"{name}{SUFFIX}", (number, number))
    kept = shelf.get("a")
    assert kept is not None
    assert (kept.frames, kept.words) == (50, clause().words)
    assert kept.runs.keys() == clause().runs.keys()
    assert all(np.array_equal(samples, clause().runs[run]) for run, samples in kept.runs.items())
    shelf.put("d", clause())
    assert shelf.get("b") is None
    assert all(shelf.get(name) for name in "acd")
    shelf.put("whale", clause(seconds=20))
    assert shelf.get("whale") is None
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 3.5 * clause().nbytes


def test_a_disk_that_takes_nothing_is_no_fault_of_the_speech(tmp_path: Path, monkeypatch, caplog) -> None:
    shelf = FileShelf(tmp_path)
    monkeypatch.setattr(os, "replace", lambda *paths: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    spoken(CachedVoice(Counted(), ClauseCache(shelf=shelf)))
    assert caplog.text.count("cannot be kept") == 1, "of two clauses"
    assert list(tmp_path.iterdir()) == []


def test_what_may_only_be_read_is_read(tmp_path: Path, monkeypatch) -> None:
    first = spoken(CachedVoice(Counted(), ClauseCache(shelf=FileShelf(tmp_path))))
    monkeypatch.setattr(os, "utime", lambda path: (_ for _ in ()).throw(OSError(30, "Read-only file system")))
    inner = Counted()
    assert np.array_equal(spoken(CachedVoice(inner, ClauseCache(shelf=FileShelf(tmp_path)))), first)
    assert inner.prepared == []


def test_files_of_others_stay_and_do_not_count(tmp_path: Path) -> None:
    """Whoever names a folder that is in use loses nothing in it."""
    (tmp_path / "thesis.txt").write_bytes(bytes(9 * clause().nbytes))
    (tmp_path / ".hidden").write_text("mine")
    (tmp_path / "folder").mkdir()
    shelf = FileShelf(tmp_path, limit=round(2.5 * clause().nbytes))
    for name in "abc":
        shelf.put(name, clause())
    assert [shelf.get(name) is not None for name in "abc"] == [False, True, True]
    assert {path.name for path in tmp_path.iterdir()} >= {"thesis.txt", ".hidden", "folder"}


def _fill(directory: Path, seed: int) -> None:
    shelf = FileShelf(directory, limit=12 * clause(0.05).nbytes)
    random = np.random.default_rng(seed)
    for _ in range(150):
        name = f"k{random.integers(20)}"
        shelf.put(name, clause(0.05, level=int(name[1:]) / 20))
        found = shelf.get(name := f"k{random.integers(20)}")
        assert found is None or np.allclose(found.runs["full", 0, 20, 2], int(name[1:]) / 20)


def test_several_processes_may_keep_and_clear_at_once(tmp_path: Path) -> None:
    workers = [subprocess.Popen([sys.executable, __file__, str(tmp_path), str(seed)]) for seed in range(3)]
    assert [worker.wait() for worker in workers] == [0, 0, 0]
    assert all(path.suffix == SUFFIX for path in tmp_path.iterdir())


if __name__ == "__main__":
    _fill(Path(sys.argv[1]), int(sys.argv[2]))
