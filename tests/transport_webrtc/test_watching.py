"""Whose word counts when a listener is heard of again, on virtual time."""

import asyncio

import pytest

from adaptive.control.ladder import LOWEST, SAFE
from adaptive.control.plan import Plan, Protection, Reason
from transport_webrtc.watching import PROBE_S, Watching


class Told:
    """Says of packets what it is told to say."""

    def __init__(self):
        self.newest = None
        self.runs = []
        self.queue_s = 0.0

    def arrived_until(self, before):
        return None if self.newest is None else min(self.newest, before)

    def missing(self, since):
        return [run for run in self.runs if run[1] > since]


class Live:
    """Keeps what it is told."""

    def __init__(self):
        self.held_at, self.reached, self.lost_runs = None, [], []

    def arrived(self, until, *, watched):
        self.reached.append(until)

    def lost(self, after, until):
        self.lost_runs.append((after, until))
        return True


class Speaker:
    def __init__(self):
        self.live, self.said = Live(), []

    def away(self, reason, *, finish):
        self.said.append("away")

    def back(self, reason):
        self.said.append("back")


@pytest.fixture
def watch(virtually):
    """Runs `test(watching, speaker, told, run)`; `run(seconds, arrives)` has signs 0.1 s apart where things arrive."""

    def whole(test, *, packets=True):
        async def on(loop):
            told, speaker = Told(), Speaker()
            watching = Watching(
                speaker,
                clock=loop.time,
                matters=lambda: True,
                told=lambda: told,
                forget_sent=lambda: speaker.said.append("forget"),
                name="test",
            )

            async def run(seconds, *, arrives=True):
                for _ in range(round(seconds / 0.1)):
                    await asyncio.sleep(0.1)
                    if arrives:
                        now = loop.time()
                        told.newest = now - 0.1 if packets else None
                        watching.sign(now, now - 0.1)

            await run(2.0)
            await test(watching, speaker, told, run)
            watching.close()

        virtually(on)

    return whole


def test_a_ping_that_is_answered_first_waits_for_the_word_on_packets(watch):
    async def test(watching, speaker, told, run):
        await run(3.0, arrives=False)
        assert watching.out
        assert speaker.said == ["away", "forget"]
        now = watching._clock()
        watching.sign(now, now - 0.1)
        assert watching.out
        await run(0.1)
        assert not watching.out
        assert speaker.said[-1] == "back"

    watch(test)


def test_but_not_for_ever(watch):
    async def test(watching, speaker, told, run):
        await run(3.0, arrives=False)
        said = told.newest
        for _ in range(6):
            now = watching._clock()
            watching.sign(now, now - 0.1)
            await run(0.1, arrives=False)
        assert told.newest == said
        assert not watching.out

    watch(test)


def test_a_path_that_moves_again_before_anything_was_held_is_back_at_once(watch):
    async def test(watching, speaker, told, run):
        before = told.newest
        await run(0.6, arrives=False)
        assert watching.out
        now = watching._clock()
        told.newest = before + 0.2
        speaker.live.held_at = now
        watching.sign(now, told.newest)
        assert watching.out, "of what was held nothing is known yet"
        speaker.live.held_at = None
        watching.sign(now, told.newest)
        assert not watching.out
        assert speaker.said[-1] == "back"

    watch(test)


def test_from_pings_alone_nothing_is_learnt_of_what_was_lost(watch):
    plan = Plan(rung=SAFE, tier="full", reason=Reason.STEADY)

    async def test(watching, speaker, told, run):
        for _ in range(2):
            await run(0.45, arrives=False)
            assert watching.plan(plan) is plan, "they may just be late"
            await run(1.05, arrives=False)
            await run(1.0)
        assert speaker.said == ["away", "forget", "back"] * 2
        assert watching._outage.limit_s == 0.5
        assert speaker.live.lost_runs == []

    watch(test, packets=False)


def test_what_was_lost_is_told_once_and_what_is_copied_is_not(watch):
    plan = Plan(rung=SAFE, tier="full", reason=Reason.STEADY)

    async def test(watching, speaker, told, run):
        now = watching._clock()
        told.runs = [(now - 0.05, now + 0.35)]
        await run(0.5, arrives=False)
        await run(0.5)
        assert speaker.live.lost_runs == told.runs
        assert speaker.said[-1] == "forget"
        now = watching._clock()
        told.runs = [(now - 0.05, now + 0.35)]
        watching.plan(Plan(rung=SAFE, tier="full", reason=Reason.LOSS, protection=Protection(copies=(6,))))
        await run(0.5, arrives=False)
        await run(0.5)
        assert len(speaker.live.lost_runs) == 1
        assert speaker.said[-1] == "back"
        assert watching.plan(plan) is plan

    watch(test)


def test_what_may_have_to_wait_is_light_and_out_of_reach_it_only_probes(watch):
    plan = Plan(rung=SAFE, tier="full", reason=Reason.LOSS, protection=Protection(copies=(6,)), idle_gap_s=1.0)

    async def test(watching, speaker, told, run):
        assert watching.plan(plan) is plan
        await run(0.45, arrives=False)
        light = watching.plan(plan)
        assert (light.rung, light.protection, light.idle_gap_s) == (LOWEST, Protection(), 1.0)
        await run(0.3, arrives=False)
        assert watching.plan(plan).idle_gap_s == PROBE_S
        await run(0.2)
        assert watching.plan(plan) is plan
        for told.queue_s, rung in ((0.3, SAFE), (0.5, LOWEST), (0.1, SAFE)):
            assert watching.plan(plan).rung is rung, "a queue in which it would go silent"

    watch(test)
