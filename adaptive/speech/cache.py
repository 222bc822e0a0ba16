"""Clauses that were rendered before, so that what is said again costs nothing: in memory, and on the disk if wanted.

A voice is deterministic, so a clause with the same text, speed and seed is the same speech. What is kept is what a
voice decoded, run by run as it was cut: a low tier's rounding noise depends on that, and what comes out must not depend
on whether it was kept.
"""

import hashlib
import json
from collections import OrderedDict
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, Protocol

from .voice import PreparedClause, Samples, Voice, Word


@dataclass(frozen=True, kw_only=True)
class CacheSettings:
    """What a render worker keeps of what it said; 0 bytes is nothing."""

    memory_bytes: int = 32_000_000
    """About six minutes of speech at 22.05 kHz."""
    directory: Path | None = None
    """For what is kept longer than a process lives; None is nothing."""
    disk_bytes: int = 256_000_000
    """In `directory`: about fifty minutes."""


Run = tuple[str, int, int, int]
"""Tier, start, count and tail, as `PreparedClause.decode` was asked for them."""


@dataclass(kw_only=True)
class KeptClause:
    """What is known of a clause; it grows."""

    frames: int
    words: tuple[Word, ...]
    runs: dict[Run, Samples] = field(default_factory=dict)
    nbytes: int = field(init=False)
    """Of its samples."""

    def __post_init__(self) -> None:
        self.nbytes = sum(samples.nbytes for samples in self.runs.values())

    def add(self, run: Run, samples: Samples) -> None:
        """Keeps a run. A copy: what a voice hands out may be a part of something larger, which would be kept whole."""
        self.runs[run] = samples.copy()
        self.nbytes += samples.nbytes


class Shelf(Protocol):
    """Keeps clauses longer than a process lives (`cache_files.FileShelf`)."""

    def get(self, key: str) -> KeptClause | None:
        """What was put there under `key`, if it is there and whole."""
        ...

    def put(self, key: str, clause: KeptClause) -> None:
        """Keeps it if it can; never raises."""


@dataclass(kw_only=True)
class ClauseCache:
    """The newest clauses, up to `limit` bytes of samples. Used from one thread."""

    limit: int = CacheSettings.memory_bytes
    shelf: Shelf | None = None
    bytes: int = field(default=0, init=False)
    _kept: "OrderedDict[str, tuple[KeptClause, int]]" = field(default_factory=OrderedDict, init=False)

    def get(self, key: str, *, shelved: bool) -> KeptClause | None:
        """The clause of `key`; `shelved` looks on the shelf too."""
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key][0]
        found = self.shelf.get(key) if shelved and self.shelf is not None else None
        if found is not None:
            self._remember(key, found)
        return found

    def put(self, key: str, clause: KeptClause, *, shelved: bool) -> None:
        """Keeps it as it is now, and lets go of what was not asked for longest. `shelved` keeps it on the shelf too."""
        self._remember(key, clause)
        if shelved and self.shelf is not None:
            self.shelf.put(key, clause)

    def _remember(self, key: str, clause: KeptClause) -> None:
        if key in self._kept:
            self.bytes -= self._kept.pop(key)[1]
        self._kept[key] = clause, clause.nbytes
        self.bytes += clause.nbytes
        while self.bytes > self.limit:
            _, (_, size) = self._kept.popitem(last=False)
            self.bytes -= size


READERS = ("legato-speech", "hibari-tts", "pypinyin", "rjieba", "wetext")
"""Distributions that decide how a text is read: another version of one may say it differently."""


class CachedVoice:
    """A `Voice` that remembers what it said.

    A clause may stay on a shelf where its voice has a `fingerprint`: a string that changes whenever its samples would.
    """

    def __init__(self, voice: Voice, cache: ClauseCache) -> None:
        self.info = voice.info
        self._voice = voice
        self._cache = cache
        fingerprint = getattr(voice, "fingerprint", None)
        self._shelved = fingerprint is not None
        self._salt = [voice.info.name, fingerprint, *map(_version, READERS)]

    def prepare(self, clause: str, *, speed: float = 1.0, seed: int = 0, tier: str | None = None) -> "CachedClause":
        """See `Voice.prepare`. What was said before runs no model."""
        return CachedClause(self, clause, {"speed": speed, "seed": seed, "tier": tier or self.info.tiers[0]})

    def warm(self) -> None:
        """See `Voice.warm`."""
        self._voice.warm()

    def render(self, clause: str, asked: dict[str, Any]) -> PreparedClause:
        """From the voice itself."""
        return self._voice.prepare(clause, **asked)

    def recall(self, clause: str, asked: dict[str, Any]) -> KeptClause | None:
        """What is kept of the clause."""
        return self._cache.get(self._key(clause, asked), shelved=self._shelved)

    def remember(self, clause: str, asked: dict[str, Any], kept: KeptClause, *, complete: bool) -> None:
        """Keeps it; what is `complete` may go on the shelf."""
        self._cache.put(self._key(clause, asked), kept, shelved=complete and self._shelved)

    def _key(self, clause: str, asked: dict[str, Any]) -> str:
        told = json.dumps([self._salt, clause, sorted(asked.items())])
        return hashlib.sha256(told.encode()).hexdigest()


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


class CachedClause:
    """A `PreparedClause` whose voice is asked only for what is not kept."""

    def __init__(self, voice: CachedVoice, clause: str, asked: dict[str, Any]) -> None:
        self._voice = voice
        self._clause = clause
        self._asked = asked
        self._prepared: PreparedClause | None = None
        kept = voice.recall(clause, asked)
        if kept is None:
            self._prepared = voice.render(clause, asked)
            kept = KeptClause(frames=self._prepared.frames, words=self._prepared.words)
        self._kept = kept
        self.frames, self.words = kept.frames, kept.words

    def decode(self, start: int, count: int, *, tier: str, tail: int = 0) -> Samples:
        """See `PreparedClause.decode`."""
        run = (tier, start, count, tail)
        samples = self._kept.runs.get(run)
        if samples is None:
            self._prepared = self._prepared or self._voice.render(self._clause, self._asked)
            samples = self._prepared.decode(start, count, tier=tier, tail=tail)
            self._kept.add(run, samples)
            complete = start + count == self.frames
            self._voice.remember(self._clause, self._asked, self._kept, complete=complete)
            return samples
        return samples.copy()
