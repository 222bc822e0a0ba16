"""While a listener has seconds of speech in store its messages are as full as they can be: each has its cost."""

from typing import Any

from adaptive.delivery.wire import MAX_MESSAGE_BYTES


def test_messages_are_full_where_there_is_plenty_ahead(ride: Any, link: Any) -> None:
    path, counts = link(delay_ms=30, loss=0.02), {}
    events = {at: lambda one, at=at: counts.setdefault(at, (one.sent, one.sent_bytes)) for at in (8.0, 20.0)}
    heard = ride(path, path, starts=((0.0, 24.0),), events=events, seed=5).run(30)
    sent, size = (counts[20.0][part] - counts[8.0][part] for part in (0, 1))
    assert sent < 12 / 0.25, "messages of 200 ms would be sixty, and some went again"
    assert size / sent > 0.85 * MAX_MESSAGE_BYTES
    assert heard.player.whole == [1]
    assert heard.player.concealed == 0
    assert not heard.player.starved_at


def test_what_fills_no_message_leaves_while_the_listener_is_still_ahead(ride: Any, link: Any) -> None:
    """Where nothing more is rendered for a while, in the midst of an utterance."""
    path, unsent, stopped = link(delay_ms=30), {}, []

    def stop(one: Any) -> None:
        stopped.append(one.queue.pop())

    events = {8.0: stop, 11.0: lambda one: one.queue.append(stopped.pop())}
    looks = (8.5, 10.5)
    events |= {at: lambda one, at=at: unsent.setdefault(at, len(one.delivery._sending.stock.unsent)) for at in looks}
    heard = ride(path, path, starts=((0.0, 16.0),), events=events).run(20)
    assert unsent[8.5] > 0, "it waits for more while 5 s are there"
    assert unsent[10.5] == 0
    assert heard.player.whole == [1]
    assert not heard.player.starved_at
