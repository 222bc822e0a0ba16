"""Traces of real networks, read from text that the caller has loaded."""


def parse_mahimahi(text: str) -> tuple[int, ...]:
    """Opportunities of a Mahimahi trace for `LinkSettings.trace`: one whole number of milliseconds a line.

    Raises ValueError naming the first line that is not one.
    """
    entries = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            entries.append(int(line))
        except ValueError:
            raise ValueError(
                f"Line {number} of the trace is not a whole number of milliseconds: {line[:40]!r}."
            ) from None
    return tuple(entries)
