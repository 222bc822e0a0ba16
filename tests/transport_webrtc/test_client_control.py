"""What a client asks for goes in order, each of it once at least, over one connection after another."""

import json
from collections.abc import Callable
from typing import Any

from transport_webrtc.client_control import MOST_REPEATS, Control

Virtually = Callable[[Callable[[Any], Any]], Any]


class Channel:
    """Keeps what is sent."""

    readyState = "open"

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []

    def send(self, data: str) -> None:
        self.sent.append(json.loads(data))


def test_what_a_dead_connection_swallowed_goes_again_over_the_next_once_and_in_order(virtually: Virtually) -> None:
    async def test(loop: Any) -> None:
        one, first, second = Control(lambda message: None), Channel(), Channel()
        one.send({"say": "known", "id": "a"})
        one.use(first)
        one.heard("a")
        one.send({"say": "lost", "id": "b"})
        one.send({"pause": True})
        one.hold()
        one.send({"resume": True})
        assert len(first.sent) == 3
        one.use(second)
        one.use(second)
        assert second.sent == [{"say": "lost", "id": "b"}, {"pause": True}, {"resume": True}]
        one.close()

    virtually(test)


def test_text_is_said_again_soon_and_then_every_150_ms_until_the_server_knows_of_it(virtually: Virtually) -> None:
    async def test(loop: Any) -> None:
        began, hurried = loop.time(), []
        one = Control(lambda message: hurried.append((round(loop.time() - began, 3), json.loads(message)["say"]["id"])))
        one.use(Channel())
        one.send({"say": "hello", "id": "a"})
        one.send({"say": "x" * 2000, "id": "long"})
        one.send({"say": "open", "id": "open", "more": True})
        await asleep(loop, 0.5)
        assert hurried == [(0.03, "a"), (0.18, "a"), (0.33, "a"), (0.48, "a")]
        one.heard("a")
        one.send({"say": "refused", "id": "b"})
        hurried.clear()
        await asleep(loop, 5.0)
        assert [name for _, name in hurried] == ["b"] * MOST_REPEATS
        again = Channel()
        one.use(again)
        assert [message["id"] for message in again.sent] == ["long", "b"]
        one.close()

    virtually(test)


async def asleep(loop: Any, seconds: float) -> None:
    """Lets virtual time pass."""
    future = loop.create_future()
    loop.call_later(seconds, future.set_result, None)
    await future
