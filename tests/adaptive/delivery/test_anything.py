"""Whatever a client says: nothing breaks, nothing spins, and messages fit."""

from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.control.plan import Format
from adaptive.delivery import MAX_MESSAGE_BYTES, Ack, Delivery, Frame, PlayerState
from adaptive.delivery.wire import unpack

u16, u32 = st.integers(0, 2**16 - 1), st.integers(0, 2**32 - 1)
near = st.integers(0, 40)
acks = st.builds(
    Ack,
    epoch=st.integers(0, 3) | u16,
    largest=near | u16,
    bitmap=st.integers(0, 2**64 - 1),
    arrival=u32,
    delay=u16,
    wanted_utterance=st.integers(0, 3),
    wanted=u32,
    played_utterance=st.integers(0, 3),
    played=u32,
    buffered=u16,
    state=st.sampled_from(PlayerState),
)
steps = st.lists(st.tuples(st.floats(0, 2), st.sampled_from(["flush", "moved", "wait"]) | acks), max_size=40)


@settings(max_examples=100, deadline=None)
@given(steps)
def test_any_client_is_survived(steps: list[tuple[float, Ack | str]]) -> None:
    delivery, now, utterance, position = Delivery(), 0.0, 1, 0
    for wait, event in steps:
        now += wait
        if isinstance(event, Ack):
            delivery.acked(now, event)
        elif event != "wait":
            getattr(delivery, event if event == "moved" else "flush")(now)
            utterance, position = (utterance + 1, 0) if event == "flush" else (utterance, position)
        for _ in range(200):
            room = delivery.room(now)
            for _ in range(room // 960 + bool(room % 960)):
                delivery.add(Frame(utterance, position, 960, Format(), bytes(80), position % 48_000 == 47_040))
                position += 960
                if position % 48_000 == 0:
                    utterance, position = (utterance + 1) % 4, 0
            messages = delivery.due(now)
            assert all(len(message) <= MAX_MESSAGE_BYTES and unpack(message) for message in messages)
            if not room and not messages:
                break
        else:
            raise AssertionError("There is no end to what is due.")
        at = delivery.next_time(now)
        assert at is None or at > now
        delivery.report(now)
        assert delivery.lead_s(now) >= 0.0
        delivery.position(now)
        delivery.client_ms(now)
