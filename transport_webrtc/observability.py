"""Whether the server lives, whether it is ready, and what it does, in numbers: `/healthz`, `/readyz`, `/metrics`."""

from collections import Counter as Tally
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Any

from fastapi import APIRouter, Depends
from fastapi.responses import JSONResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from adaptive.control.plan import Plan
from adaptive.control.reports import NetworkReport, Source
from adaptive.speech.judge import Fault
from adaptive.speech.renderer import Renderer

from .http import token_required
from .listener import Listener
from .media.sending import Sending
from .messages import Refused
from .settings import Settings

OUTCOMES = ("finished", "interrupted", "failed")
SENT = {
    "packets": "Packets of speech and silence sent.",
    "wire_bytes": "All of them on the wire, retransmissions included.",
    "copy_bytes": "Of those, copies of earlier frames inside later packets.",
    "repeats": "Packets sent again because listeners asked for them.",
    "repeat_bytes": "The same on the wire.",
}
"""Counts of `Sending` that are told as they are."""
PENDING = 1024
"""Utterances whose beginning is awaited, at most."""


class Metrics:
    """Counts what listeners do, in a registry of its own, so that two servers in a process do not mix."""

    def __init__(self, renderer: Renderer, listeners: Callable[[], Sequence[Listener]], clock: Callable[[], float]):
        self.registry = CollectorRegistry()
        self._clock = clock
        self._queued: dict[tuple[str, str], float] = {}
        options: dict[str, Any] = {"registry": self.registry, "namespace": "legato"}
        self._utterances = Counter("utterances", "Utterances that ended, by how.", ["outcome"], **options)
        for outcome in OUTCOMES:
            self._utterances.labels(outcome)
        self._plans = Counter("plan_changes", "Plans that came to hold, by their reason.", ["reason"], **options)
        self._refused = Counter("refused", "Requests of listeners that were refused, by status.", ["status"], **options)
        self._first_audio = Histogram(
            "first_audio_seconds",
            "From accepting an utterance to its first sound being heard, waiting for its turn included.",
            buckets=(0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1, 2, 5, 10, 30),
            **options,
        )
        self._rtt = Histogram(
            "rtt_seconds",
            "Round trips that listeners reported.",
            buckets=(0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2),
            **options,
        )
        reports = Counter("network_reports", "Reports of the path, by where they came from.", ["source"], **options)
        self._reports = {source: reports.labels(source) for source in Source}
        self._takeovers = Counter("takeovers", "Listeners that went on over another connection.", **options)
        self._gone: Tally[str] = Tally()
        self.registry.register(_Present(renderer, listeners, self._gone))

    def plan_changed(self, plan: Plan) -> None:
        """A plan came to hold."""
        self._plans.labels(plan.reason).inc()

    def network(self, report: NetworkReport) -> None:
        """A report came."""
        self._reports[report.source].inc()

    def round_trip(self, seconds: float) -> None:
        """One was measured."""
        self._rtt.observe(seconds)

    def event(self, listener: str, event: dict[str, Any]) -> None:
        """An event was told."""
        name, utterance = event["event"], (listener, str(event["id"]))
        if name == "queued" and len(self._queued) < PENDING:
            self._queued[utterance] = self._clock()
        elif name == "started" and utterance in self._queued:
            self._first_audio.observe(self._clock() - self._queued.pop(utterance))
        elif name in OUTCOMES:
            self._queued.pop(utterance, None)
            self._utterances.labels(name).inc()
        elif name == "error":
            self._refused.labels(event["status"]).inc()

    def taken_over(self) -> None:
        """A listener hears over another connection."""
        self._takeovers.inc()

    def forget(self, listener: str, sent: Sending) -> None:
        """The listener is gone, and what it waited for with it."""
        self._gone.update(_counts(sent))
        for key in [key for key in self._queued if key[0] == listener]:
            del self._queued[key]


class _Present(Collector):
    """Gauges that are read off when somebody asks."""

    def __init__(self, renderer: Renderer, listeners: Callable[[], Sequence[Listener]], gone: Tally[str]):
        """`gone`: what was sent to those who left."""
        self._renderer = renderer
        self._listeners = listeners
        self._gone = gone

    def describe(self) -> Iterator[GaugeMetricFamily]:
        """Nothing is collected at registration."""
        return iter(())

    def collect(self) -> Iterator[GaugeMetricFamily | CounterMetricFamily]:
        """All gauges at this moment."""
        listeners = self._listeners()
        plans = [plan for listener in listeners if (plan := listener.plan) is not None]
        networks = [report for listener in listeners if (report := listener.network_report) is not None]
        status = self._renderer.status()
        yield _tally("legato_listeners", "Listeners by state.", "state", [listener.state for listener in listeners])
        yield _tally("legato_rung", "Listeners by rung.", "rung", [str(plan.rung) for plan in plans])
        yield _tally("legato_tier", "Listeners by tier of the plan.", "tier", [plan.tier for plan in plans])
        carriers = [str(one.carrying.carrier) for one in listeners if one.carrying.carrier is not None]
        yield _tally("legato_carrier", "Listeners by what carries their speech.", "carrier", carriers)
        leads = [listener.carrying.lead_s for listener in listeners]
        yield _spread("legato_lead_seconds", "Speech beyond what is heard, data track.", leads)
        yield _spread("legato_newest_rtt_seconds", "Newest round trip.", [report.rtt_s for report in networks])
        yield _spread("legato_loss", "Packets lost before repair, 0 to 1.", [listener.loss for listener in listeners])
        yield _spread("legato_opinion", "Expected opinion, G.107.2.", [listener.opinion() for listener in listeners])
        heard = [listener.heard_opinion() for listener in listeners]
        yield _spread("legato_heard_opinion", "Estimated opinion of what was heard, G.107.2, delay aside.", heard)
        sent = sum((_counts(listener.sent) for listener in listeners), Tally(self._gone))
        for name, text in SENT.items():
            yield CounterMetricFamily(f"legato_{name}", text, value=sent[name])
        yield GaugeMetricFamily("legato_workers", "Render workers that are warm.", value=status.workers)
        yield GaugeMetricFamily("legato_render_queue_seconds", "How long a chunk waits.", value=status.queue_s)
        yield CounterMetricFamily("legato_worker_restarts", "Render workers replaced.", value=status.restarts)
        bad = CounterMetricFamily("legato_bad_chunks", "Chunks judged bad, by what was wrong.", labels=["fault"])
        for fault in Fault:
            bad.add_metric([fault], status.faults.get(fault, 0))
        yield bad
        again = "Those of them that were rendered again, one tier higher."
        yield CounterMetricFamily("legato_chunks_rendered_again", again, value=status.rendered_again)


def _counts(sent: Sending) -> Tally[str]:
    return Tally({name: getattr(sent, name) for name in SENT})


def _tally(name: str, text: str, label: str, values: Sequence[str]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, text, labels=[label])
    for value, count in sorted(Tally(values).items()):
        family.add_metric([value], count)
    return family


def _spread(name: str, text: str, values: Sequence[float | None]) -> GaugeMetricFamily:
    """Over all listeners: one of them has no name here that anyone might misuse."""
    family = GaugeMetricFamily(name, text, labels=["over"])
    known = [value for value in values if value is not None]
    for over, of in (("min", min), ("median", median), ("max", max)):
        if known:
            family.add_metric([over], of(known))
    return family


def observability_router(
    settings: Settings, renderer: Renderer, metrics: Metrics, why: Callable[[], str | None]
) -> APIRouter:
    """`why` says in a sentence why nobody new should come, or None where all is well."""
    router = APIRouter()
    guarded = [Depends(token_required(settings))]

    @router.head("/healthz", include_in_schema=False)
    @router.get("/healthz")
    async def healthz() -> Response:
        """Whether the process lives; asks nothing of the voices."""
        return JSONResponse({"alive": True})

    @router.head("/readyz", include_in_schema=False)
    @router.get("/readyz")
    async def readyz() -> Response:
        """Whether the next listener would be served without waiting."""
        sentence = why()
        if sentence is None and not renderer.status().ready:
            sentence = "The voices are not warm yet."
        if sentence is not None:
            raise Refused(503, sentence)
        return JSONResponse({"ready": True})

    @router.head("/metrics", include_in_schema=False, dependencies=guarded)
    @router.get("/metrics", dependencies=guarded)
    async def read_metrics() -> Response:
        """What happens here, in numbers, for Prometheus."""
        return Response(generate_latest(metrics.registry), media_type=CONTENT_TYPE_LATEST)

    return router
