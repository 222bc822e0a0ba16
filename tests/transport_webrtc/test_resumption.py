"""Who may take a listener's speech over, on given time."""

import base64

import pytest

from transport_webrtc.messages import Refused
from transport_webrtc.resumption import SETTLING_S, TOKEN_BYTES, Resumption, make_token


def test_a_token_is_256_bits_of_the_systems_randomness(monkeypatch) -> None:
    asked = []
    monkeypatch.setattr("secrets.token_bytes", lambda count: asked.append(count) or bytes(range(count)))
    token = make_token()
    assert asked == [TOKEN_BYTES] == [32]
    assert base64.urlsafe_b64decode(token + "=") == bytes(range(32))


def test_tokens_are_like_no_other() -> None:
    assert len({make_token() for _ in range(2_000)}) == 2_000
    first = Resumption(life_s=60.0)
    assert not Resumption(life_s=60.0).opens(first.hand_out(), 0.0)


def test_what_is_kept_opens_nothing() -> None:
    one = Resumption(life_s=60.0)
    token = one.hand_out()
    assert token not in repr(vars(one))
    assert not any(one.opens(str(valid), 0.0) for valid in one._valid)


@pytest.mark.parametrize("token", ["", "x", "\udcff", "é" * 43])
def test_anything_else_opens_nothing(token: str) -> None:
    one = Resumption(life_s=60.0)
    one.hand_out()
    assert not one.opens(token, 0.0)


def test_of_two_at_once_one_gets_on() -> None:
    one = Resumption(life_s=60.0)
    token = one.hand_out()
    one.begin(token, 10.0)
    with pytest.raises(Refused) as refused:
        one.begin(token, 10.0)
    assert refused.value.status == 409
    one.answered(10.1)
    with pytest.raises(Refused):
        one.begin(token, 10.1 + SETTLING_S / 2)


def test_once_the_connection_stands_only_the_fresh_one_opens() -> None:
    one = Resumption(life_s=60.0)
    token = one.hand_out()
    one.begin(token, 10.0)
    one.answered(10.1)
    fresh = one.hand_out()
    one.arrived()
    assert (one.opens(token, 10.2), one.opens(fresh, 10.2)) == (False, True)
    one.begin(fresh, 10.2)


def test_an_answer_that_was_lost_leaves_the_token_as_it_was() -> None:
    one = Resumption(life_s=60.0)
    token = one.hand_out()
    one.begin(token, 10.0)
    one.answered(10.1)
    lost = one.hand_out()
    one.begin(token, 10.2 + SETTLING_S)
    one.answered(12.0)
    fresh = one.hand_out()
    assert not one.opens(lost, 12.0), "nobody has it"
    assert one.opens(token, 12.0)
    assert one.opens(fresh, 12.0)
    one.begin(fresh, 12.1 + SETTLING_S)
    one.answered(14.0)
    assert not one.opens(token, 14.0), "the fresh one arrived: it was used"


def test_an_offer_that_was_refused_changes_nothing() -> None:
    one = Resumption(life_s=60.0)
    token = one.hand_out()
    one.begin(token, 10.0)
    one.failed()
    assert one.opens(token, 10.0)
    assert one.hand_out() == ""
    one.begin(token, 10.0)


def test_a_token_lives_from_going_away_until_its_life_is_over() -> None:
    one = Resumption(life_s=60.0)
    token = one.hand_out()
    assert one.opens(token, 1e6), "while the listener is there it does not age"
    assert one.left(1e6) == 1e6 + 60
    assert one.left(1e6 + 30) == 1e6 + 60, "an attempt that failed makes it no longer"
    assert one.opens(token, 1e6 + 59.9)
    assert not one.opens(token, 1e6 + 60)
    one.begin(token, 1e6 + 59)
    one.answered(1e6 + 59)
    fresh = one.hand_out()
    one.arrived()
    assert one.opens(fresh, 2e6)
