"""Whose turn it is to sound, and who renders meanwhile."""

import asyncio
from collections.abc import Callable, Iterator, Sequence

from adaptive.control.plan import Plan, Reason
from adaptive.control.profiles import Keep
from adaptive.speech.renderer import Renderer, RenderEvent, RenderFailed
from adaptive.ticks import to_ticks

from .utterance import Utterance
from .waiting import Waiting

PREPARE_S = 3.0
"""An utterance that may not sound before some time begins to render this long before it."""

UNCONNECTED = to_ticks(0.1)
"""Of an utterance that nobody can hear yet only what begins before this is rendered, which is a chunk: enough to sound
at once, and little to do for who asks and never listens."""

RENDERING_AT_ONCE = 2
"""The utterance that sounds, and the one after it."""


class Turns:
    """The utterances of one listener that are not over.

    One has its turn; the rest wait. The next one begins to render when the one that sounds is rendered whole and less
    than the target of it is left, so that what is ready for the listener never exceeds one utterance's limit.
    `told` is called with every event of a renderer after it was taken in, `over` with an utterance of which nothing is
    left to sound when it has or gets its turn, `wake` when there may be something to take.
    """

    def __init__(
        self,
        *,
        renderer: Renderer,
        clock: Callable[[], float],
        told: Callable[[Utterance, RenderEvent], None],
        over: Callable[[Utterance], None],
        wake: Callable[[], None],
    ) -> None:
        self.current: Utterance | None = None
        self.waiting = Waiting()
        self.connected = False
        """There is somebody to hear it."""
        self.ahead_of_time = False
        """The carrier sends ahead: what may not sound yet may have its turn, if nothing else waits."""
        self.here: Callable[[Utterance], bool] = lambda utterance: True
        """Whether it is to sound on the present carrier."""
        self.on_turn: Callable[[], None] = lambda: None
        """Called when a turn begins, and when an utterance is heard out."""
        self.held = False
        """Nobody hears it at present: only what goes by unheard is rendered on."""
        self._renderer = renderer
        self._clock = clock
        self._told = told
        self._over = over
        self._wake = wake
        self._plan: Plan | None = None
        self._timer: asyncio.TimerHandle | None = None

    def __iter__(self) -> Iterator[Utterance]:
        """In the order in which they would sound."""
        if self.current is not None:
            yield self.current
        yield from self.waiting

    def add(self, utterance: Utterance, *, first: bool) -> None:
        """Lets it wait for its turn, `first` before all others."""
        self.waiting.add(utterance, first=first)

    def drop(self, utterance: Utterance) -> None:
        """Takes it out, wherever it is; whose turn is next shows at `advance`."""
        utterance.end()
        if utterance is self.current:
            self.current = None
        else:
            self.waiting.remove(utterance)

    def steer(self, plan: Plan) -> None:
        """Tier and chunk length from the next chunk on."""
        before, self._plan = self._plan, plan
        if before is None or (before.tier, before.chunk_frames) != (plan.tier, plan.chunk_frames):
            for utterance in self:
                utterance.steer(tier=plan.tier, chunk_frames=plan.chunk_frames)

    def advance(self) -> None:
        """Gives the turn to whom it belongs, and lets the renderer work as far as there is room."""
        now = self._clock()
        while True:
            if self.current is None and (following := self._next(now)) is not None:
                self.waiting.remove(following)
                self.current = following
                self._begin(following)
                self._wake()
            if self.current is None or not self.current.pipeline.done:
                break
            done = self.current
            self.drop(done)
            self._over(done)
        if self.current is not None and (not self.held or self.current.keep is Keep.SKIP):
            self.current.grant(0, most=None if self.connected else UNCONNECTED)
        if len(self.waiting) and self.connected and not self.held:
            self._prepare(now)
        if len(self.waiting):
            self._arm(now)

    def put_back(self, again: Sequence[Utterance]) -> None:
        """What was taken is to be taken again: the first has its turn, the others wait where they waited."""
        waiting = [*again[1:], *([self.current] if self.current is not None and self.current not in again else [])]
        self.current = again[0]
        for utterance in waiting:
            self.waiting.put_back(utterance)

    def give_way(self) -> None:
        """What has its turn waits again."""
        if self.current is not None:
            self.waiting.put_back(self.current)
            self.current = None

    def close(self) -> None:
        """Ends all of them."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for utterance in self:
            utterance.end()
        self.current, self.waiting = None, Waiting()

    def _next(self, now: float) -> Utterance | None:
        following = self.waiting.next(now)
        if following is not None or not self.ahead_of_time:
            return following
        soonest = self.waiting.soonest(now)
        return soonest if soonest is not None and self.here(soonest) else None

    def _prepare(self, now: float) -> None:
        """Lets the one that comes next render its beginning."""
        ahead = 0
        if self.current is not None:
            if self.current.pipeline.total is None:
                return
            ahead = self.current.pipeline.ready
        following = self.waiting.next(now + PREPARE_S)
        if following is None or ahead >= to_ticks(following.profile.ready_s):
            return
        if not following.begun and sum(utterance.rendering for utterance in self) < RENDERING_AT_ONCE:
            self._begin(following)
        following.grant(ahead)

    def _begin(self, utterance: Utterance) -> None:
        if utterance.begun:
            return
        plan = self._plan
        job = utterance.job(tier=plan.tier if plan else None, chunk_frames=plan.chunk_frames if plan else None)
        try:
            utterance.begin(self._renderer, self._take_in, job)
        except (ValueError, RuntimeError) as error:
            utterance.take_in(RenderFailed(message=str(error)), Reason.ERROR)

    def _take_in(self, utterance: Utterance, event: RenderEvent) -> None:
        utterance.take_in(event, str(self._plan.reason if self._plan else Reason.START))
        self._told(utterance, event)
        self.advance()
        if utterance is self.current:
            self._wake()

    def _arm(self, now: float) -> None:
        """Comes back when an utterance that may not sound yet may, or has to be prepared."""
        leads = [u.not_before - u.profile.lead_s for u in self.waiting] if self.ahead_of_time else []
        times = [t for u in self.waiting for t in (u.not_before - PREPARE_S, u.not_before) if t > now]
        times += [t for t in leads if t > now]
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if times:
            self._timer = asyncio.get_running_loop().call_later(min(times) - now, self._timed)

    def _timed(self) -> None:
        self._timer = None
        self.advance()
        self._wake()
