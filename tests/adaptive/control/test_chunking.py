"""Chunks: short where time is short, long where computing is, and steady in between."""

from adaptive.control.chunking import ChunkLength
from adaptive.control.compute import TierChoice
from adaptive.control.reports import ComputeReport

LENGTHS = {9: 0.20, 18: 0.15, 36: 0.125, 72: 0.11, 144: 0.10}
FRAME_S = 0.0116


def report(at: float = 5.0, *, ready: float, cost: float = 0.2, **facts) -> ComputeReport:
    told = {"tiers": ("full", "light"), "target_s": 1.6, "rendering": True, "queue_s": 0.0} | facts
    lengths = {"full": LENGTHS, "light": {frames: cost / 2 for frames, cost in LENGTHS.items()}}
    return ComputeReport(at=at, cost={"full": cost}, ready_s=ready, frame_s=FRAME_S, lengths=lengths, **told)


def frames(chunks: ChunkLength, *, ready: float, cost: float, **facts) -> int | None:
    return chunks.frames(report(ready=ready, **facts), cost=cost, lengths=LENGTHS, margin_s=0.2)


def test_where_computing_is_plenty_the_stream_chooses() -> None:
    assert frames(ChunkLength(), ready=1.6, cost=0.15) is None


def test_where_computing_is_short_and_enough_is_ready_chunks_are_long() -> None:
    assert frames(ChunkLength(), ready=1.6, cost=0.7) == 144
    assert frames(ChunkLength(), ready=1.0, cost=0.7) == 72
    assert frames(ChunkLength(), ready=0.65, cost=0.7) is None


def test_a_long_wait_for_a_worker_is_shortness_too_and_takes_from_what_is_ready() -> None:
    assert frames(ChunkLength(), ready=1.6, cost=0.3, queue_s=0.3) == 144
    assert frames(ChunkLength(), ready=0.85, cost=0.3, queue_s=0.3) == 72


def test_chunks_that_helped_stay_until_computing_is_plenty() -> None:
    chunks = ChunkLength()
    assert frames(chunks, ready=1.6, cost=0.65) == 144
    assert frames(chunks, ready=1.6, cost=0.5) == 144
    assert frames(chunks, ready=1.6, cost=0.35) is None
    assert frames(chunks, ready=1.6, cost=0.5) is None


def test_where_little_is_ready_chunks_are_short_but_not_so_short_that_they_lose() -> None:
    assert frames(ChunkLength(), ready=0.3, cost=0.3) == 17
    assert frames(ChunkLength(), ready=0.21, cost=0.3) == 9
    assert frames(ChunkLength(), ready=0.21, cost=0.7) == 17, "9 frames would cost more time than they last"


def test_without_calibration_lengths_cost_the_same_and_none_is_preferred() -> None:
    chunks = ChunkLength()
    known = ComputeReport(at=5.0, tiers=("full",), ready_s=1.6, rendering=True, frame_s=FRAME_S)
    assert chunks.frames(known, cost=0.8, lengths={}, margin_s=0.2) is None


def test_a_plan_says_the_length_while_speech_is_made() -> None:
    choice = TierChoice()
    for tenth in range(30):
        choice.observe(report(tenth / 10, ready=1.6, cost=0.75))
    assert choice.chunk_frames == 144
    choice.observe(report(3.0, ready=1.6, cost=0.75, rendering=False))
    assert choice.chunk_frames is None


def test_a_tier_that_was_not_used_yet_is_expected_to_cost_what_its_calibration_says_of_this_load() -> None:
    choice = TierChoice()
    choice.observe(report(0.0, ready=1.6, cost=0.5))
    assert choice.cost(0) == 0.5
    assert choice.cost(1) == 0.25
