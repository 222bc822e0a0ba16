"""Utterances that are over whose ids are still known, so that saying them again is harmless."""

from collections import OrderedDict

from ..messages import Accepted

REMEMBERED = 256


class Past:
    """The last of them."""

    def __init__(self) -> None:
        self._accepted: OrderedDict[str, Accepted] = OrderedDict()

    def add(self, accepted: Accepted) -> None:
        """One is over."""
        self._accepted[accepted.id] = accepted
        while len(self._accepted) > REMEMBERED:
            self._accepted.popitem(last=False)

    def get(self, id: str) -> Accepted | None:
        """The answer it got."""
        return self._accepted.get(id)

    def __contains__(self, id: str) -> bool:
        return id in self._accepted
