"""Traces of every kind, generated here, and the windows of them that hurt."""

import pytest

from quality.lab.scenarios import LEAD_IN_S
from quality.lab.traces import Kind, load, load_all, parse
from quality.lab.windows import Window, all_hurting, find, hurting_windows


def mahimahi(*seconds: int) -> str:
    """So many opportunities in each second."""
    return "\n".join(str(1000 * s + 1000 * n // count) for s, count in enumerate(seconds) for n in range(count)) + "\n"


ROUND_TRIPS = "t_ms,rtt_ms,speed_mps,sinr_db,rsrp_db\n" + "".join(
    f"{at},{4000 - (at - 70_000) if 70_000 <= at < 74_000 else 30},0.0,10,-86\n" for at in range(0, 130_000, 50)
)
PHONE = "t_s,down_kbps,up_kbps,ping_ms,ping_stdev_ms,ping_loss_percent,speed_kmh,mode\n" + "".join(
    f"{at},100,10,{'90.0,3.0,' + ('20.0' if at == 80 else '0.0') if at % 20 == 0 else ',,'},30,5G\n"
    for at in range(0, 180, 2)
)
LOSSES = "0" * 3000 + "1000000000" * 300


def test_every_kind_is_known_by_its_text():
    assert parse("a", mahimahi(10, 0, 20)).kind is Kind.OPPORTUNITIES
    assert parse("b", "0.0\t1.5\n2.5\t0.05\n4.0\t2.0\n").kind is Kind.CAPACITY
    assert parse("c", ROUND_TRIPS).kind is Kind.ROUND_TRIPS
    assert parse("d", PHONE).kind is Kind.PHONE
    assert parse("e", LOSSES).kind is Kind.LOSSES


def test_capacity_second_by_second():
    assert parse("a", mahimahi(10, 0, 20)).capacity_kbps() == pytest.approx([120.32, 0.0])
    assert parse("b", "0.0\t1.5\n2.5\t0.05\n4.0\t2.0\n").capacity_kbps() == pytest.approx([1500, 1500, 1500, 50])
    assert parse("c", ROUND_TRIPS).capacity_kbps() == []


@pytest.mark.parametrize(
    "text",
    ["", "1\n2\nx\n", "0.0\t1\nfoo\tbar\n", "t_s,ping_ms\n1,\n2,\n"],
)
def test_what_is_no_trace_is_refused_with_a_sentence(text):
    with pytest.raises(ValueError, match=r".+\."):
        parse("bad", text)


def test_windows_that_hurt():
    tight = parse("tight", mahimahi(*[100] * 70, 4, *[100] * 110))
    assert [w.start_s for w in hurting_windows(tight)] == [60]
    slow = parse("slow", "".join(f"{at}.0\t{0.05 if at == 130 else 2.0}\n" for at in range(0, 200, 2)))
    assert [w.start_s for w in hurting_windows(slow)] == [120]
    assert [w.start_s for w in hurting_windows(parse("rtt", ROUND_TRIPS))] == [60]
    assert [w.start_s for w in hurting_windows(parse("phone", PHONE))] == [60]
    assert [w.start_s for w in hurting_windows(parse("losses", LOSSES))] == [60]


def test_the_end_of_a_trace_has_a_window_of_its_own():
    trace = parse("tight", mahimahi(*[100] * 100, 4, *[100] * 9))
    assert [w.start_s for w in hurting_windows(trace)] == [49]


def test_a_gap_in_a_recording_is_no_outage():
    gap = "t_ms,rtt_ms\n" + "".join(f"{at},30\n" for at in [*range(0, 70_000, 50), *range(90_000, 140_000, 50)])
    assert hurting_windows(parse("gap", gap)) == []


def test_a_window_of_capacity_begins_where_it_says():
    trace = parse("tight", mahimahi(*[100] * 70, 4, *[100] * 110))
    scenario = Window(trace=trace, start_s=60, seconds=60).scenario()
    down = scenario.settings("down", 0)
    assert down.queue_bytes == 60_000
    assert down.delay_ms == scenario.settings("up", 0).delay_ms == 50
    in_second = [sum(1 for at in down.trace if second <= at / 1000 < second + 1) for second in (14, 15, 16)]
    assert in_second == [100, 4, 100]


def test_a_window_of_round_trips_delays_the_way_down():
    scenario = Window(trace=parse("rtt", ROUND_TRIPS), start_s=60, seconds=60).scenario()
    delays = dict(scenario.settings("down", 0).delay_trace)
    assert max(delays.values()) == pytest.approx(4000 - 15)
    assert delays[LEAD_IN_S + 10] == pytest.approx(4000 - 15)
    assert scenario.settings("up", 0).delay_ms == 15


def test_a_window_of_a_phone_loses_while_it_pinged():
    scenario = Window(trace=parse("phone", PHONE), start_s=60, seconds=60).scenario()
    assert [scenario.settings("down", at).loss for at in (10, 16, 19.5, 21)] == [0.0, 0.2, 0.2, 0.0]


def test_a_window_of_losses_begins_at_its_second():
    scenario = Window(trace=parse("losses", LOSSES), start_s=60, seconds=60).scenario()
    assert scenario.settings("down", 0).loss_list[:11] == (True, *[False] * 9, True)


def test_traces_are_found_in_folders_and_by_name(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "tight.down").write_text(mahimahi(*[100] * 70, 4, *[100] * 110))
    (tmp_path / "LICENSE.upstream").write_text("MIT\n")
    (tmp_path / "notes.txt").write_text("not a trace\n")
    (tmp_path / "clean.up").write_text(mahimahi(*[100] * 200))
    assert [trace.name for trace in load_all(tmp_path)] == ["clean.up", "tight.down"]
    assert [window.name for window in all_hurting(tmp_path)] == ["tight.down@60"]
    path = tmp_path / "deep" / "tight.down"
    assert find(f"{path}@65.5", seconds=10).name == "tight.down@65.5"
    assert find(str(path), seconds=10).name == "tight.down@0"
    assert find("step40", seconds=10).name == "step40"
    for wrong in ("nowhere", "nowhere@5", f"{path}@x"):
        with pytest.raises(ValueError, match=r".+\."):
            find(wrong, seconds=10)
    with pytest.raises(ValueError, match=r".+\."):
        load(tmp_path / "none")
