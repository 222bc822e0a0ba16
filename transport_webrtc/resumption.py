"""Who may take a listener's speech over to another connection: whoever holds its newest token, once. Pure."""

import hashlib
import hmac
import secrets
from collections.abc import Callable

from .messages import Refused

TOKEN_BYTES = 32
"""256 bits of the operating system's randomness (`secrets`); 128 are called unguessable (RFC 6749 section 10.10)."""
SETTLING_S = 1.0
"""After an answer the same token is refused for so long: of two that come at once only one gets anywhere. After that it
works again, until the new connection stands: the answer, and the fresh token in it, may have been lost."""


def make_token() -> str:
    """43 characters that may stand in a header."""
    return secrets.token_urlsafe(TOKEN_BYTES)


class Resumption:
    """One listener's. Each takeover gets a fresh token; once its connection stands no older one works.

    Only digests are kept of what was handed out.
    """

    def __init__(self, *, life_s: float, make: Callable[[], str] = make_token) -> None:
        """`life_s`: how long a listener that is away may come back."""
        self.life_s = life_s
        self._make = make
        self._fresh = make()
        self._valid = [_digest(self._fresh)]
        """The last token that was used or proven to have arrived, and the one given out since."""
        self._used = b""
        self._busy = False
        self._answered_at = float("-inf")
        self._away_since: float | None = None

    def hand_out(self) -> str:
        """The newest token, once; empty after that."""
        token, self._fresh = self._fresh, ""
        return token

    def opens(self, token: str, now: float) -> bool:
        """Whether that is a token of this listener, in a time that does not depend on it."""
        found = False
        for valid in self._valid:
            found |= hmac.compare_digest(valid, _digest(token))
        return found and not self.expired(now)

    def begin(self, token: str, now: float) -> None:
        """A takeover begins, with a token that `opens`. `answered` or `failed` follows.

        Raises Refused with status 409 while another one is under way.
        """
        if self._busy or now - self._answered_at < SETTLING_S:
            raise Refused(409, "This speech is being taken over at this moment; if that was not you, try again in 1 s.")
        self._busy, self._used = True, _digest(token)

    def answered(self, now: float) -> None:
        """Its offer was answered: a fresh token is there to be handed out."""
        self._busy, self._answered_at = False, now
        self._fresh = self._make()
        self._valid = [self._used, _digest(self._fresh)]

    def failed(self) -> None:
        """Its offer was refused: all is as before."""
        self._busy = False

    def arrived(self) -> None:
        """The connection stands: its client has the newest token, and no other one works."""
        self._valid, self._answered_at = self._valid[-1:], float("-inf")
        self._away_since = None

    def left(self, now: float) -> float:
        """The listener is away; when its tokens expire."""
        self._away_since = now if self._away_since is None else self._away_since
        return self._away_since + self.life_s

    def expired(self, now: float) -> bool:
        """Nobody can come back any more."""
        return self._away_since is not None and now >= self._away_since + self.life_s

    @property
    def away_since(self) -> float | None:
        """Monotonic seconds; None while the listener is there."""
        return self._away_since


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode(errors="surrogatepass")).digest()
