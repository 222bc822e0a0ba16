"""How old the newest facts of the path are, and which source is believed."""

from collections import deque
from enum import IntEnum
from statistics import median

from .reports import NetworkReport, Source

FREEZE_S = 1.5
SAFE_S = 3.0
LOWEST_S = 8.0
"""Ages from which nothing rises, the safe rung holds, the lowest rung holds."""
GAPS = (1.5, 2.5, 4.0)
"""The same in usual gaps between reports, for sources as rare as RTCP (a browser's come every 2.6 to 7.5 s)."""
USUAL_S = {Source.TWCC: 0.0, Source.FEEDBACK: 0.0, Source.RTCP: 5.0}
"""The least that is taken for the usual gap of a source."""
FIRST_REPORT_S = 5.0
"""A listener may take so long to its first report before its silence counts."""
BETTER_FOR_S = 3.0
"""A better source so fresh silences the others."""

_RANK = {Source.TWCC: 0, Source.FEEDBACK: 1, Source.RTCP: 2}


class Age(IntEnum):
    """What the age of the newest facts allows."""

    FRESH = 0
    FROZEN = 1
    SAFE = 2
    LOWEST = 3


class Freshness:
    """Watches the reports that carry facts."""

    def __init__(self) -> None:
        self._newest: float | None = None
        self._source: Source | None = None
        self._seen: dict[Source, float] = {}
        self._gaps: deque[float] = deque(maxlen=8)

    def start(self, now: float) -> None:
        """Reports may come from now on."""
        if self._newest is None:
            self._newest = now + FIRST_REPORT_S

    def silent_before(self, report: NetworkReport) -> bool:
        """Nothing came for so long before this report that the losses in between were an outage."""
        return self.age(report.at) >= Age.SAFE

    def accept(self, report: NetworkReport) -> bool:
        """Whether the report's loss and delay count: it is no older than the last one and none better is fresh."""
        better = (at for source, at in self._seen.items() if _RANK[source] < _RANK[report.source])
        if any(report.at - at < BETTER_FOR_S for at in better):
            return False
        if self._seen.get(report.source, report.at) > report.at:
            return False
        if report.source is self._source:
            self._gaps.append(report.at - self._seen[report.source])
        else:
            self._gaps.clear()
        self._source = report.source
        self._newest = self._seen[report.source] = report.at
        return True

    def age(self, now: float) -> Age:
        """Judged by the usual gap between reports where that is long."""
        if self._newest is None:
            return Age.FRESH
        usual = max(median(self._gaps) if self._gaps else 0.0, USUAL_S[self._source] if self._source else 0.0)
        age = now - self._newest
        limits = zip((FREEZE_S, SAFE_S, LOWEST_S), GAPS, strict=True)
        return Age(sum(age > max(seconds, gaps * usual) for seconds, gaps in limits))
