"""When a player answers: soon, and rarely where messages hold so much speech that the path must be narrow.

A narrow path is often narrow both ways, and each acknowledgement takes 129 bytes of the wire there: six a second are
half of 12 kb/s. `page/receipts.js` keeps the same times.
"""

from adaptive.ticks import to_ticks

from .wire import PlayerState

LONG_TICKS = to_ticks(0.3)
"""Speech in the newest message from which on answers are rare; `bundling` makes such on narrow paths only."""
NEWS_S, RARE_NEWS_S = 0.04, 0.15
"""News are told after so long at the latest, sooner where a gap shows, another state at once."""
GAP_S = 0.015
RARE_S = 0.5
"""Without news the state is told so often, at most, where answers are rare …"""
PLENTY_S = 4.0
"""… and where nobody waits for them, with so much speech in store: each costs the server as much as two frames."""
PERIODS_S = {
    PlayerState.EMPTY: 1.0,
    PlayerState.FILLING: 0.1,
    PlayerState.PLAYING: 0.2,
    PlayerState.STARVED: 0.1,
    PlayerState.SUSPENDED: 1.0,
}
"""Without news the state is told so often."""
TIMERS_S = 0.01
"""That a player's timers add."""


def news_s(rare: bool) -> float:
    """How long news may wait."""
    return RARE_NEWS_S if rare else NEWS_S


def period_s(state: PlayerState, rare: bool) -> float:
    """How long a player without news may say nothing."""
    return max(PERIODS_S[state], RARE_S) if rare else PERIODS_S[state]
