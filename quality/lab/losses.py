"""Which packets a link loses: a list, independent losses, or bursts (Gilbert's two states).

One random number is spent on every packet offered, whatever the model and whether it is lost, so a seed and a sequence
of offers fix the drop list, and a change of settings in mid-run changes nothing that came before it.
"""

import random


class Losses:
    """Decides packet by packet. The state of a burst outlives a change of settings."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)
        self._bad = False
        self._place = 0

    def restart_list(self) -> None:
        """The next packet takes the first place of the loss list."""
        self._place = 0

    def next(self, *, loss: float, burst: float, loss_list: tuple[bool, ...]) -> bool:
        """True if the next packet is lost.

        `loss_list` goes first and is repeated for ever. Otherwise `loss` is the share lost, 0..1, and `burst` the mean
        length of a run of losses in packets; 1 means independent losses.
        """
        draw = self._random.random()
        if loss_list:
            lost = loss_list[self._place % len(loss_list)]
            self._place += 1
            return lost
        if burst <= 1 or loss in (0, 1):
            self._bad = draw < loss
            return self._bad
        leave = 1 / burst
        self._bad = draw >= leave if self._bad else draw < enter_bad(loss, burst)
        return self._bad


def enter_bad(loss: float, burst: float) -> float:
    """The probability of going from the good state, where nothing is lost, to the bad one, where all is.

    Gilbert's chain stays in the bad state for `burst` packets on average and spends the share `loss` of its time
    there (Gilbert 1960, "Capacity of a burst-noise channel"). Above 1 the two cannot go together.
    """
    return loss / (burst * (1 - loss))
