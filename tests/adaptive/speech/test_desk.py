"""Whose turn it is, on a clock that only the voice moves; the voice is a real one and so is the stream."""

from dataclasses import dataclass, field

import pytest

from adaptive.speech.desk import Desk
from adaptive.speech.renderer import Chunk, Rendered, RenderJob
from adaptive.speech.stream import SpeechStream
from adaptive.speech.voices import tone
from adaptive.speech.worker_messages import Cancel, Feed, Grant, Made, Open, Steer

TEXT = "This is a text of several clauses, long enough for many chunks, and it is said by a tone. " * 2
EVERYTHING = 1 << 40


@dataclass
class Bench:
    """A desk, its clock, and what was made in the order in which it was made."""

    chunk_s: float = 0.02
    now: float = 0.0
    made: list[Made] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.desk = Desk({"tone": tone.load()}, SpeechStream, clock=lambda: self.now)

    def open(self, number, *, granted=EVERYTHING, steps=(), **job):
        asked = RenderJob(id=str(number), voice="tone", **job)
        self.desk.handle(Open(number=number, job=asked, pieces=((TEXT, True),), granted=granted, steps=steps))

    def turns(self, count=None):
        """Up to `count` turns, or until nobody has one; returns the numbers that got them."""
        got: list[int] = []
        while len(got) != count and (number := self.desk.pick()) is not None:
            got.append(number)
            made = self.desk.turn(number)
            self.now += self.chunk_s
            if made is not None:
                self.made.append(made)
        return got


@pytest.fixture
def bench():
    return Bench()


def test_equals_take_turns(bench):
    for number in (1, 2, 3):
        bench.open(number)
        bench.now += 0.001
    got = bench.turns(30)
    assert set(got[:10]) == {1, 2, 3}, "nobody waits until another one is done"
    assert max(map(got.count, (1, 2, 3))) - min(map(got.count, (1, 2, 3))) <= 2


def test_a_newcomer_waits_for_one_chunk_at_most(bench):
    for number in (1, 2, 3):
        bench.open(number)
    bench.turns(21)
    bench.open(4)
    assert bench.turns(1) == [4]


def test_a_crowd_of_newcomers_cannot_silence_who_speaks():
    bench = Bench(chunk_s=0.05)
    bench.open(0)
    bench.turns(4)
    for number in range(1, 60):
        bench.open(number)
    newcomers = set()
    while bench.now < 3:  # by then so many sound that no order of turns could serve them all
        number = bench.turns(1)[0]
        newcomers |= {number} - {0}
        spoken = [e for made in bench.made if made.number == 0 for e in made.events if isinstance(e, Chunk)]
        ready = sum(len(chunk.samples) for chunk in spoken) / 48_000
        assert ready > bench.now, "its first chunk was there at 0: it has been silent"
    assert len(newcomers) > 5


def test_who_was_held_up_by_his_grant_is_not_urgent_for_ever(bench):
    bench.open(1, granted=48_000)
    bench.turns()
    bench.now += 60
    bench.desk.handle(Grant(1, 50_000))
    bench.open(2)
    assert bench.turns(1) == [2]


def test_nobody_beyond_his_grant_has_a_turn(bench):
    bench.open(1, granted=0)
    assert bench.turns() == []
    bench.desk.handle(Grant(1, 1))
    assert bench.turns() == [1]
    (chunk,) = [event for event in bench.made[-1].events if isinstance(event, Chunk)]
    bench.desk.handle(Grant(1, len(chunk.samples)))
    assert bench.turns() == []
    bench.desk.handle(Grant(1, len(chunk.samples) + 1))
    assert bench.turns() == [1]


def test_steps_repeated_make_the_rest_the_same(bench):
    bench.open(1)
    bench.turns(3)
    bench.desk.handle(Steer(1, "light", 20))
    bench.turns()
    assert isinstance(bench.made[-1].events[-1], Rendered)
    whole, bench.made = bench.made, []
    bench.open(2, steps=tuple(made.step for made in whole[:5]))
    bench.desk.handle(Steer(2, "light", 20))
    bench.turns()
    assert [made.step for made in bench.made] == [made.step for made in whole[5:]]
    for again, before in zip(bench.made, whole[5:], strict=True):
        for event, other in zip(again.events, before.events, strict=True):
            assert type(event) is type(other)
            if isinstance(event, Chunk):
                assert event.start == other.start
                assert event.samples.tobytes() == other.samples.tobytes()


def test_what_concerns_the_ended_is_ignored(bench):
    bench.open(1)
    bench.desk.handle(Cancel(1))
    for message in (Cancel(1), Feed(1, "more", True), Grant(1, 5), Steer(1, "light", None)):
        bench.desk.handle(message)
    assert bench.turns() == []
