"""Which carrier an utterance is to have at its turn: the one it was asked for on, else the listener's own."""

from collections.abc import Callable

from adaptive.control.plan import Carrier

from .messages import Refused
from .speaker import Speaker
from .speaking.utterance import Utterance

FOR_ITS_TURN, TURN_OVER = "The text was asked for on it.", "The text that was asked for elsewhere is over."


class CarrierOfTurn:
    """Of one connection. Changes the carrier when everything before a turn was heard, so that all keeps its order."""

    def __init__(
        self,
        speaker: Speaker,
        *,
        present: Callable[[], Carrier | None],
        has_track: Callable[[], bool],
        change: Callable[[Carrier, str], None],
        clock: Callable[[], float],
    ) -> None:
        """`present()` is the carrier at present, None while that is open; `has_track()`: there is a data track;
        `change(carrier, why)` changes to one at once."""
        self.own: Carrier | None = None
        """The listener's, which has what asks for none."""
        self._speaker, self._clock = speaker, clock
        self._present, self._has_track, self._change = present, has_track, change
        speaker.turns.on_turn, speaker.turns.here = self.look, self._here

    def check(self, carrier: Carrier) -> None:
        """Raises Refused where the listener cannot have it."""
        if carrier is Carrier.DATA and not self._has_track():
            raise Refused(409, "This listener has no data track: offer a channel named 'speech', or ask for audio.")

    def claim(self, carrier: Carrier) -> None:
        """The listener wants it for what sounds, too, whatever that was asked for on. Raises Refused."""
        self.check(carrier)
        if (sounding := self._speaker.ahead.sounding) is not None:
            sounding.carrier = None

    def look(self) -> None:
        """It may be the turn of what is to have another carrier."""
        current, present = self._speaker.turns.current, self._present()
        silent = self._speaker.ahead.silent and self._speaker.live.silent
        if current is None or present is None or not silent or current.not_before > self._clock():
            return
        wanted = self._wanted(current)
        if wanted not in (None, present):
            self._change(wanted, FOR_ITS_TURN if wanted is current.carrier else TURN_OVER)

    def _here(self, utterance: Utterance) -> bool:
        return self._wanted(utterance) is self._present()

    def _wanted(self, utterance: Utterance) -> Carrier | None:
        wanted = utterance.carrier or self.own
        return Carrier.AUDIO if wanted is Carrier.DATA and not self._has_track() else wanted
