"""`legato bench network`: what a listener hears behind a bad network, sent by Legato and by others.

A real Chromium listens in one network namespace, the sender works in another, and every packet between them crosses the
lab's link. `bench` goes through senders, scenarios and seeds; `run` is one of them; `measuring` makes the row.
"""

from .command import register

__all__ = ["register"]
