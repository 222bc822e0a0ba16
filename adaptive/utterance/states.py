"""The states of an utterance, and which may follow which."""

from enum import StrEnum


class State(StrEnum):
    """How far the making of an utterance has come."""

    INIT = "INIT"
    """Accepted; nothing was done yet."""
    TEXT_STREAMING = "TEXT_STREAMING"
    """Text went to the renderer."""
    ACOUSTIC_PROCESSING = "ACOUSTIC_PROCESSING"
    """A clause went through the part of the model that runs once."""
    VOCODER_STREAMING = "VOCODER_STREAMING"
    """Samples are coming."""
    COMPLETED = "COMPLETED"
    """Every sample went to the carrier."""
    ERROR = "ERROR"
    INTERRUPTED = "INTERRUPTED"
    """Cut off before its end."""


class Sounding(StrEnum):
    """What the listener gets of an utterance, beside its state."""

    QUEUED = "queued"
    SOUNDING = "sounding"
    PAUSED = "paused"


PATH = (
    State.INIT,
    State.TEXT_STREAMING,
    State.ACOUSTIC_PROCESSING,
    State.VOCODER_STREAMING,
    State.COMPLETED,
)
"""The way of an utterance to which nothing happens."""

_NOT_INTERRUPTIBLE = frozenset({State.COMPLETED, State.ERROR, State.INTERRUPTED})


class IllegalMove(RuntimeError):
    """A state was to follow another that it cannot follow."""


def may_follow(state: State, then: State) -> bool:
    """Whether `then` may come directly after `state`."""
    if then is State.ERROR:
        return state is not State.ERROR
    if then is State.INTERRUPTED:
        return state not in _NOT_INTERRUPTIBLE
    return state in PATH and state is not PATH[-1] and PATH[PATH.index(state) + 1] is then


class Life:
    """The state of one utterance."""

    def __init__(self) -> None:
        self.state = State.INIT

    @property
    def over(self) -> bool:
        """Nothing more will be made of it."""
        return self.state in _NOT_INTERRUPTIBLE

    def move(self, to: State) -> None:
        """One step. Raises IllegalMove where `to` cannot follow the present state."""
        if not may_follow(self.state, to):
            raise IllegalMove(f"an utterance cannot go from {self.state} to {to}")
        self.state = to

    def reach(self, to: State) -> None:
        """Step by step along the path up to `to`; nothing where it is already reached.

        An utterance without a word is rendered without a clause: it passes through the states between all the same.
        Raises IllegalMove for a state off the path, or when the utterance has left the path.
        """
        if to not in PATH or self.state not in PATH:
            raise IllegalMove(f"an utterance cannot go from {self.state} to {to}")
        for step in PATH[PATH.index(self.state) + 1 : PATH.index(to) + 1]:
            self.move(step)
