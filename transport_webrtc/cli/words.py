"""The words of the command line: options that several verbs have, explained the same way in all of them.

Names are written out, so that `--help` loads nothing; a test holds them to what there is.
"""

from typing import Literal

Device = Literal["auto", "cpu", "cuda"]
"""Where models compute; auto is a GPU where there is one."""

PROFILE = (
    "What the use wants. voice_chat, a conversation: the shortest delay comes first. narration, a story or a book:"
    " nothing may stumble, delay does not matter. navigation, instructions on the road: not a word may be lost."
)
CARRIER = "What carries the speech: data, sent ahead, where the client plays that; audio, an RTP track; auto chooses."
CONTROLLERS = (
    "adaptive, which follows the network; fixed, which does not, at 24 kb/s or as told by fixed:32000 or"
    " fixed:32000+fec; or the name of an installed one."
)
PRESETS = (
    "clean; bad, 28 kb/s with 5 % loss; lossy, 10 % in bursts of 3; slow, 100 kb/s; far, 150 ms each way. Or settings"
    ' as JSON, such as \'{"down": {"loss": 0.05}}\'.'
)
SCENARIOS = (
    ("clean", "50 ms each way and nothing else; all the others have that, too"),
    ("random5, random10, random20", "5, 10 or 20 % of the packets are lost, each by itself"),
    ("burst10", "10 % are lost, in bursts of 3"),
    ("jitter30", "the delay varies by 30 ms"),
    ("step40, step24", "3 s into the speech there are 40 or 24 kb/s for 6 s"),
    ("outage3, outage10", "3 s into the speech nothing passes for 3 or 10 s"),
)
"""Names and what happens."""
GENERATED = (
    ("3g, 3g-commute, lte", "capacity while driving or commuting, as recorded networks had it"),
    ("5g, 5g-rural", "round trips while driving; in the country the network is gone for up to 10 s"),
    ("train", "LTE in the mountains, with 37 tunnels"),
    ("cafe", "crowded Wi-Fi, where packets wait for their turn"),
)
"""Generated traces: names and what they are."""
VOICE = "Who speaks; `legato voices` lists them, and piper:FILE.onnx is any Piper voice."
JSON = "Print the figures as one JSON object, the last line of standard output."


def listed(pairs: tuple[tuple[str, str], ...]) -> str:
    """A list in the markdown of a command's help."""
    return "\n".join(f"- {names}: {says}." for names, says in pairs)


def counted(number: int, one: str, many: str | None = None) -> str:
    """`1 clause`, `2 clauses`."""
    return f"{number} {one if number == 1 else many or one + 's'}"
