"""Loss as a list fixed by a seed, so that every sender meets the same losses in the same places of its speech."""

from dataclasses import fields
from typing import Any

from quality.lab.losses import Losses
from quality.lab.settings import LinkSettings

LENGTH = 6_000
"""Packets before a list repeats: two minutes at 50 packets a second."""


def changes(before: LinkSettings | None, after: LinkSettings, seed: str) -> dict[str, Any]:
    """What to tell a link that has the settings `before` (None: of which nothing is known) to have those `after`.

    A share of losses between none and all becomes a list drawn from `seed`.
    """
    told = {
        field.name: getattr(after, field.name)
        for field in fields(LinkSettings)
        if before is None or getattr(before, field.name) != getattr(after, field.name)
    }
    if told.keys() & {"loss", "burst", "loss_list"}:
        told.pop("burst", None)
        told |= {"loss": float(after.loss == 1), "loss_list": after.loss_list or drop_list(after, seed)}
    return told


def drop_list(settings: LinkSettings, seed: str) -> tuple[int, ...]:
    """1 for a packet that is lost, 0 for one that is not; empty where none or all are."""
    if settings.loss in (0, 1):
        return ()
    losses = Losses(f"{seed} drops")
    return tuple(int(losses.next(loss=settings.loss, burst=settings.burst, loss_list=())) for _ in range(LENGTH))
