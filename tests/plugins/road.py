"""A speaker, a listener, and the lab's links between them on virtual time: frames, feedback, and who watches it."""

import asyncio

import numpy as np

from adaptive.control.fates import Fates
from adaptive.control.ladder import COPY_BYTES, OVERHEAD_BYTES
from adaptive.control.plan import Bandwidth, Plan, Protection, Reason, Rung
from adaptive.control.profiles import PROFILES
from adaptive.ticks import TICK_RATE
from quality.lab.both_ways import BothWays
from quality.lab.listening import Listening
from quality.lab.receiver import Block, Kind
from quality.lab.scenarios import Scenario
from quality.lab.sender import IDLE_BYTES, Packet
from transport_webrtc.messages import SayMessage
from transport_webrtc.speaker import Speaker
from transport_webrtc.watching import Watching

LEAD_S = 2.0
"""Only silence travels for so long."""
STEP_S = 0.01
WORD = 24_000
"""Ticks, where the script gives half a second to each."""
WORDS = " ".join(f"w{i}" for i in range(24))
RUNG = Rung(bitrate=24_000, bandwidth=Bandwidth.FB, frame_ms=20)


class Road:
    """The links change by `steps`, whose seconds count from when the speech is asked for, as `at` does."""

    def __init__(self, loop, renderer, *steps, protection=None):
        self.loop, self.began = loop, loop.time()
        self.told: list = []
        """(at, name, data)."""
        self.speaker = Speaker(
            renderer=renderer,
            profile=PROFILES["navigation"],
            voice="tone",
            emit=lambda name, id, data: self.told.append((self.at, name, data)),
            clock=loop.time,
        )
        self.speaker.heard(0.15)
        self.speaker.connected()
        self.ways: BothWays = BothWays(
            Scenario(name="road", says="", steps=steps), seed=1, lead_s=LEAD_S, start=self.began
        )
        self.fates, self.far = Fates(), Listening()
        self.plan = Plan(rung=RUNG, tier="full", reason=Reason.FORCED, protection=protection or Protection())
        self.watching = Watching(
            self.speaker,
            clock=loop.time,
            matters=lambda: self.speaker.live.busy,
            told=lambda: self.fates,
            forget_sent=self._forget,
            name="road",
        )
        self.left = {}
        """Speech that left, by its RTP time."""
        self.kinds = []
        """What every 10 ms of hearing were."""
        self._earlier, self._history = [], {}
        self._sequence = self._number = 0
        self._due, self._rested = self.began, 0.0

    @property
    def at(self):
        return self.loop.time() - self.began - LEAD_S

    async def say(self, seconds=20.0, **fields):
        """Says the words, and goes on for so long."""
        await self.run(0.0)
        self.speaker.say(SayMessage(say=WORDS, **{"id": "a", "keep": "resume", **fields}))
        await self.run(seconds)

    async def run(self, until):
        while self.at < until - 1e-9:
            now = self.loop.time()
            while self.ways.next_change_s <= self.at + 1e-9:
                self.ways.change(now)
            self.ways.carry(now, at_listener=self._arrived, at_server=self._answered)
            if now >= self._due - 1e-9:
                self._send(now)
            if (feedback := self.far.feedback(now)) is not None:
                self.ways.up.offer(now, feedback.size, feedback)
            self.kinds.append(self.far.play(now))
            await asyncio.sleep(STEP_S)

    def _send(self, now):
        plan = self.watching.plan(self.plan)
        ticks = plan.rung.frame_ms * TICK_RATE // 1000
        block = self.speaker.take(ticks)
        self._due = now + (0.02 if block is None else ticks / TICK_RATE)
        if block is None and now - self._rested < plan.idle_gap_s - 1e-9:
            return
        self._rested, quiet = now, block is None or not block.speech
        frame = Block(round((now - self.began) * TICK_RATE), 960 if block is None else ticks, quiet)
        distances = () if quiet else plan.protection.copies
        copies = tuple(self._earlier[-d] for d in distances if d <= len(self._earlier))
        self._earlier = [] if quiet else [*self._earlier, frame][-17:]
        payload = IDLE_BYTES if quiet else plan.rung.bitrate * plan.rung.frame_ms // 8000
        if not quiet:
            self.left[frame.timestamp] = block
        size = OVERHEAD_BYTES + payload + sum(COPY_BYTES + payload for _ in copies)
        number = self.fates.sent(now, size=size)
        self._number += (number - self._number) & 0xFFFF
        self._history[self._sequence] = Packet(self._sequence, frame, copies, size), self._number
        self.ways.down.offer(now, size, self._history[self._sequence])
        self._sequence += 1

    def _forget(self):
        self._earlier.clear()
        self._history.clear()

    def _arrived(self, now, item):
        answer = self.far.arrived(now, *item)
        if answer is not None and self.plan.protection.nack:
            self.ways.up.offer(now, answer.size, answer)

    def _answered(self, now, answer):
        for sequence in answer.wanted:
            if sequence in self._history:
                packet, number = self._history[sequence]
                self.fates.sent_again(now, number, size=packet.size)
                self.ways.down.offer(now, packet.size, (packet, number))
        if answer.feedback is not None:
            self.fates.feedback(now, answer.feedback)
            self.watching.sign(now, self.fates.arrived_until())

    @property
    def heard(self):
        """Every tick of the utterance that came out, in order; what fades out was not meant to be heard."""
        blocks = [self.left[time] for time in self.far.receiver.decoded if time in self.left]
        sounding = [(b.start, np.count_nonzero(b.samples)) for b in blocks]
        return np.concatenate([np.arange(start, start + count - count % 960) for start, count in sounding])

    @property
    def whole_words(self):
        """How often each word was heard from its first to its last tick without a break."""
        ticks = self.heard
        runs = [(run[0], run[-1] + 1) for run in np.split(ticks, np.flatnonzero(np.diff(ticks) != 1) + 1)]
        return [sum(a <= w * WORD and (w + 1) * WORD <= b for a, b in runs) for w in range(24)]

    @property
    def silence_s(self):
        """From the first word to the last."""
        sounding = [n for n, kind in enumerate(self.kinds) if kind is Kind.PLAYED]
        return sum(kind is not Kind.PLAYED for kind in self.kinds[sounding[0] : sounding[-1]]) * STEP_S

    def when(self, name):
        """At which times it was told."""
        return [at for at, told, _ in self.told if told == name]

    @property
    def words(self):
        """Those that were told."""
        return [data["text"] for _, name, data in self.told if name == "word"]

    def close(self):
        self.watching.close()
        self.speaker.close()
