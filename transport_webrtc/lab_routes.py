"""The lab over HTTP: `GET` and `PUT /v1/listen/{id}/network`, where the server runs with its lab."""

import json
from typing import Any

from fastapi import APIRouter, Request

from .datagram_filter import LabNetwork
from .http import read_body
from .messages import Refused

router = APIRouter(tags=["lab"])

FIELDS = ("preset", "down", "up")
EXAMPLE = '{"preset": "bad"} or {"down": {"loss": 0.05}}'


@router.get("/v1/listen/{listener_id}/network")
async def read_network(listener_id: str, request: Request) -> dict[str, Any]:
    """Settings both ways, the preset they are, and what became of the packets."""
    return _network(listener_id, request).snapshot()


@router.put("/v1/listen/{listener_id}/network")
async def change_network(listener_id: str, request: Request) -> dict[str, Any]:
    """Changes the network from now on: a `preset`, or settings `down` and `up`, or a preset with changes to it."""
    network = _network(listener_id, request)
    changes = await _changes(request)
    try:
        if "preset" in changes:
            network.preset(changes["preset"], down=changes.get("down"), up=changes.get("up"))
        else:
            network.set(down=changes.get("down"), up=changes.get("up"))
    except ValueError as error:
        raise Refused(422, str(error)) from error
    return network.snapshot()


def _network(listener_id: str, request: Request) -> LabNetwork:
    network: LabNetwork | None = request.app.state.listeners.get(listener_id).network
    if network is None:
        raise Refused(404, "This listener has no lab network; start the server with --lab.")
    return network


async def _changes(request: Request) -> dict[str, Any]:
    """The body, an object of known fields. Raises Refused."""
    body = await read_body(request, request.app.state.settings.max_message_bytes)
    try:
        changes = json.loads(body)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise Refused(400, f"The body is not JSON in UTF-8; send an object such as {EXAMPLE}.") from error
    if not isinstance(changes, dict) or not changes:
        raise Refused(422, f"Send an object such as {EXAMPLE}.")
    for name, value in changes.items():
        if name not in FIELDS:
            raise Refused(422, f"Unknown field {name[:40]!r}; known are {', '.join(FIELDS)}.")
        if not isinstance(value, str if name == "preset" else dict):
            kind = "the name of a preset" if name == "preset" else "an object of settings"
            raise Refused(422, f"{name} must be {kind}, as in {EXAMPLE}.")
    return changes
