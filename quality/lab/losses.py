"""Which packets a link loses: a list, independent losses, or bursts (the two states of Gilbert and Elliott).

The same random numbers are spent on every packet offered, whatever the model and whether it is lost, so a seed and a
sequence of offers fix the drop list, and a change of settings in mid-run changes nothing that came before it.
"""

import random


class Losses:
    """Decides packet by packet. The state of a burst outlives a change of settings."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)
        self._within = random.Random(f"{seed} within")
        self._bad = False
        self._place = 0

    def restart_list(self) -> None:
        """The next packet takes the first place of the loss list."""
        self._place = 0

    def next(
        self,
        *,
        loss: float,
        burst: float,
        loss_list: tuple[bool, ...] = (),
        bad_loss: float = 1.0,
        good_loss: float = 0.0,
    ) -> bool:
        """True if the next packet is lost.

        `loss_list` goes first and is repeated for ever. Otherwise `loss` is the share lost of all, 0..1, and `burst`
        the mean length of a bad time in packets; 1 means independent losses. `bad_loss` and `good_loss` are the shares
        lost in bad times and between them.
        """
        draw, within = self._random.random(), self._within.random()
        if loss_list:
            lost = loss_list[self._place % len(loss_list)]
            self._place += 1
            return lost
        if burst <= 1 or loss in (0, 1):
            self._bad = draw < loss
            return self._bad
        enter = enter_bad(bad_share(loss, bad_loss=bad_loss, good_loss=good_loss), burst)
        self._bad = draw >= 1 / burst if self._bad else draw < enter
        return within < (bad_loss if self._bad else good_loss)


def bad_share(loss: float, *, bad_loss: float = 1.0, good_loss: float = 0.0) -> float:
    """The share of packets in bad times, where `loss` are lost of all (Elliott 1963, "Estimates of error rates for
    codes on burst-noise channels")."""
    return (loss - good_loss) / (bad_loss - good_loss)


def enter_bad(bad: float, burst: float) -> float:
    """The probability of going from the good state to the bad one.

    Gilbert's chain stays in the bad state for `burst` packets on average and spends the share `bad` of its time
    there (Gilbert 1960, "Capacity of a burst-noise channel"). Above 1 the two cannot go together.
    """
    return bad / (burst * (1 - bad))
