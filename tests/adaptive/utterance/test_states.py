"""Which state may follow which."""

import itertools

import pytest

from adaptive.utterance import IllegalMove, Life, State
from adaptive.utterance.states import PATH, may_follow


def test_the_path_is_walked_in_order():
    life = Life()
    for state in PATH[1:]:
        life.move(state)
    assert life.state is State.COMPLETED
    assert life.over


def test_every_move_off_the_rules_raises_and_changes_nothing():
    legal = set(itertools.pairwise(PATH))
    legal |= {(s, State.ERROR) for s in State if s is not State.ERROR}
    legal |= {(s, State.INTERRUPTED) for s in PATH[:-1]}
    for before, after in itertools.product(State, State):
        life = Life()
        life.state = before
        assert may_follow(before, after) == ((before, after) in legal)
        if (before, after) in legal:
            life.move(after)
            assert life.state is after
        else:
            with pytest.raises(IllegalMove):
                life.move(after)
            assert life.state is before


def test_reach_goes_through_the_states_between():
    life = Life()
    life.reach(State.VOCODER_STREAMING)
    life.reach(State.ACOUSTIC_PROCESSING)
    assert life.state is State.VOCODER_STREAMING


@pytest.mark.parametrize("end", [State.ERROR, State.INTERRUPTED])
def test_nothing_is_reached_after_the_end(end):
    life = Life()
    life.move(end)
    with pytest.raises(IllegalMove):
        life.reach(State.COMPLETED)
