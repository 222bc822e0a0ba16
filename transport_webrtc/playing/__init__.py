"""The data track's player for a listener without a browser: messages in, samples and acknowledgements out. Pure.

`Player` is all that a client needs. It does what the page's player does, on given time and without a sound card.
"""

from .player import Player

__all__ = ["Player"]
