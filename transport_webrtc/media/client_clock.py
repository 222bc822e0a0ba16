"""The client's clock before any speech was acknowledged: what may not sound yet has to be told in it. Pure."""

from adaptive.delivery import Ack

WRAP = 2**32


class ClientClock:
    """Known from the first answer, where the way up is as fast as the way down."""

    def __init__(self) -> None:
        self._asked_at = 0.0
        self._offset_s: float | None = None

    @property
    def known(self) -> bool:
        """The client answered."""
        return self._offset_s is not None

    def asked(self, now: float) -> None:
        """Something was sent that the client answers at once."""
        self._asked_at = now

    def answered(self, now: float, ack: Ack) -> None:
        """The first answer tells; what was lost before makes it late by as much at most as it took."""
        if self._offset_s is None:
            one_way_s = max(0.0, now - self._asked_at - ack.delay / 10_000) / 2
            self._offset_s = ack.arrival / 1000 - (now - one_way_s - ack.delay / 10_000)

    def ms(self, at: float) -> int:
        """The client's clock at `at` monotonic seconds, ms modulo 2^32."""
        return round((at + (self._offset_s or 0.0)) * 1000) % WRAP
