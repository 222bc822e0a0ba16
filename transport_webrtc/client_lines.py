"""A client's connections, one after the other: the newest carries everything, and when it is lost another one is tried
until it stands."""

import asyncio
from collections.abc import Callable
from typing import Literal

from aiortc import RTCIceServer

from adaptive.control.plan import Carrier

from .client_control import Control
from .client_http import ListenError
from .client_line import ClientLine, Told
from .client_resource import NOT_LEGATO, Resource
from .ear import Ear

State = Literal["connecting", "connected", "disconnected", "reconnecting", "closed"]
"""`disconnected` may heal by itself; `reconnecting`: another connection is tried until one stands."""

NO_PATH = "The server answered, but no connection came about; is UDP blocked on the way, or the TURN server wrong?"
NOTHING_ARRIVES = "Nothing arrives from the server; waiting for the network."
TRIES_AGAIN = "The connection was lost; another one is tried. What was sent ahead plays on."
LOST = "The connection to the server is lost."
GIVEN_UP_S = 5.5
"""A connection of which nothing came for so long is given up for another one: an outage of a few seconds heals sooner
than a connection comes about on a path that just had one."""
PAUSES_S = (0.1, 0.25, 0.5, 1.0)
"""Between an attempt that failed and the next; the last again and again."""
PATIENCE_S = (1.0, 1.5, 2.0)
"""How long a server may take to answer an offer, beside what it took the first time: longer after each attempt."""
CONNECTING_S = 6.0
"""How long ICE and DTLS may take where the server has answered; a path that comes back is found in between."""
TRY_LATER = (409, 429)
"""Of the 4xx those that another attempt may be spared."""


class ClientLines:
    """Owns the connections. Used from the event loop only."""

    def __init__(
        self,
        ear: Ear,
        control: Control,
        resource: Resource,
        *,
        make: Callable[[Told, list[RTCIceServer]], ClientLine],
        on_control: Callable[[str | bytes], None],
        on_state: Callable[[State, str], None],
        last: Callable[[], int],
    ) -> None:
        """`make` makes a line over the given ICE servers, `last` tells the number of the last event that is known."""
        self.state: State = "connecting"
        self.current: ClientLine | None = None
        """The newest that stood, or the first."""
        self._ear, self._control, self._resource = ear, control, resource
        self._make, self._on_state, self._last = make, on_state, last
        self._told = Told(
            on_state=self._line_changed,
            on_control=lambda _, raw: on_control(raw),
            on_arrival=self._arrived,
            on_silence=self._silent,
        )
        self._rejoining: asyncio.Task[None] | None = None
        self._ending: set[asyncio.Task[None]] = set()

    async def open(self, *, within_s: float) -> None:
        """The first of them: returns when it stands. Raises ListenError."""
        line = self.current = self._make(self._told, await self._resource.ice_servers())
        answer = await self._resource.offer(await line.offer())
        try:
            await line.answered(answer, within_s=within_s, whole=True)
        except ValueError as error:
            raise ListenError(NOT_LEGATO.format(self._resource.server)) from error
        except TimeoutError:
            raise ListenError(NO_PATH) from None

    async def close(self) -> None:
        """Says goodbye and leaves nothing behind; safe to repeat."""
        self._end("There is no connection to the server any more.")
        if self._rejoining is not None:
            await asyncio.gather(self._rejoining, return_exceptions=True)
        try:
            await self._resource.leave()
        finally:
            if self.current is not None:
                await self.current.close()
            await asyncio.gather(*self._ending, return_exceptions=True)

    def _adopt(self, line: ClientLine) -> None:
        """It stands: everything goes over it."""
        if self.state == "closed":
            return
        before, self.current = self.current, line
        if before is not line:
            self._ear.move(line.receiver, line.feedback)
            if before is not None:
                self._discard(before)
        line.watch()
        self._become("connected")
        if line.control.readyState == "open":
            self._control.use(line.control)

    def _line_changed(self, line: ClientLine) -> None:
        if line.state == "connected" and (line is self.current or self._rejoining is not None):
            self._adopt(line)
        elif line is self.current and line.state in ("failed", "closed"):
            self._lose(LOST)

    def _arrived(self, line: ClientLine) -> None:
        if line is not self.current:
            return
        self._control.heard()
        if self.state in ("disconnected", "reconnecting") and line.stands:
            self._stop_rejoining()
            self._adopt(line)

    def _silent(self, line: ClientLine, seconds: float) -> None:
        if line is not self.current:
            return
        if self.state == "connected":
            self._become("disconnected", NOTHING_ARRIVES)
        if seconds > GIVEN_UP_S:
            self._lose(LOST)

    def _lose(self, why: str) -> None:
        """Takes the speech over to another connection, until one stands or the server knows nothing of it any more."""
        if self.state == "closed" or self._rejoining is not None:
            return
        if self.state == "connecting" or not self._resource.resumable:
            return self._end(why)
        self._control.hold()
        self._become("reconnecting", TRIES_AGAIN)
        self._rejoining = asyncio.create_task(self._rejoin(), name="rejoining")

    async def _rejoin(self) -> None:
        loop = asyncio.get_running_loop()
        until, failures = loop.time() + self._resource.life_s, 0
        while loop.time() < until:
            try:
                return await self._attempt(PATIENCE_S[min(failures, len(PATIENCE_S) - 1)])
            except (ListenError, ValueError, TimeoutError, OSError) as error:
                status = error.status if isinstance(error, ListenError) else None
                if status is not None and 400 <= status < 500 and status not in TRY_LATER:
                    return self._end(f"{LOST} {error}")
            except Exception:
                self._end(LOST)
                raise
            await asyncio.sleep(PAUSES_S[min(failures, len(PAUSES_S) - 1)])
            failures += 1
        self._end(LOST)

    async def _attempt(self, patience_s: float) -> None:
        line = self._make(self._told, await self._resource.ice_servers(patience_s))
        try:
            began = self._ear.player.messages.received > 0
            answer = await self._resource.take_over(
                await line.offer(),
                carrier="audio" if began and self._ear.carrier is Carrier.AUDIO else None,
                kept=began,
                after=self._last(),
                patience_s=patience_s,
            )
            await line.answered(answer, within_s=CONNECTING_S, whole=False)
        except BaseException:
            if line is not self.current:
                self._discard(line)
            raise
        self._rejoining = None

    def _stop_rejoining(self) -> None:
        rejoining, self._rejoining = self._rejoining, None
        if rejoining is not None:
            rejoining.cancel()

    def _discard(self, line: ClientLine) -> None:
        task = asyncio.create_task(line.close())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    def _end(self, why: str) -> None:
        self._become("closed", why)
        self._control.close()
        if self._rejoining is not None and self._rejoining is not asyncio.current_task():
            self._rejoining.cancel()

    def _become(self, state: State, message: str = "") -> None:
        if self.state not in (state, "closed"):
            self.state = state
            self._on_state(state, message)
