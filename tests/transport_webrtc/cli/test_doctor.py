"""`legato doctor` finds what is wrong with a machine, and says what to do."""

import json
import os
import socket
import sys

import pytest
import typer
from typer.testing import CliRunner

from transport_webrtc.cli import checks, doctor
from transport_webrtc.cli.checks import State


def run(*arguments):
    app = typer.Typer()
    doctor.register(app)
    return CliRunner().invoke(app, list(arguments))


def test_a_machine_that_runs_these_tests_is_well():
    result = run("--json")
    told = json.loads(result.stdout)
    failed = [check for check in told["checks"] if check["state"] == "fail"]
    assert failed == []
    assert told["ok"]
    assert result.exit_code == 0
    assert [check["name"] for check in told["checks"]] == [
        "python",
        "packages",
        "adaptive",
        "libopus",
        "aiortc",
        "resampling",
        "voices",
        "cache",
        "browser",
        "port",
        "cpu",
    ]


def test_a_failure_is_shown_with_what_to_do_and_is_the_exit_code(monkeypatch):
    monkeypatch.setenv("LEGATO_VOICES", "nobody")
    monkeypatch.setenv("LEGATO_VOICE", "nobody")
    monkeypatch.setattr(doctor, "CHECKS", (checks.voices, checks.python))
    result = run()
    assert result.exit_code == 1
    assert "missing: nobody" in result.stdout
    assert "name others in LEGATO_VOICES, such as joe,heart,kumo,tone" in result.stdout
    assert "CPython" in result.stdout


def test_a_check_that_cannot_be_made_is_a_failure_and_the_others_go_on(monkeypatch):
    monkeypatch.setenv("LEGATO_PORT", "many")
    monkeypatch.setattr(doctor, "CHECKS", (checks.port, checks.python))
    told = list(doctor.examine())
    assert [finding.state for finding in told] == [State.FAIL, State.OK]
    assert "port" in told[0].found


def distribution(folder, name, version, **files):
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    for file, text in files.items():
        (info / file).write_text(text)


def test_another_distribution_with_a_package_of_our_name_is_found(tmp_path, monkeypatch):
    assert checks.foreign_adaptive().state is State.OK
    distribution(tmp_path, "adaptive", "1.3.0", **{"top_level.txt": "adaptive\n", "RECORD": "adaptive/__init__.py,,\n"})
    monkeypatch.syspath_prepend(str(tmp_path))
    finding = checks.foreign_adaptive()
    assert finding.state is State.FAIL
    assert "adaptive installs a package named adaptive too" in finding.found
    assert "environment of its own" in (finding.todo or "")


def test_another_adaptive_being_imported_is_found(tmp_path, monkeypatch):
    import adaptive

    monkeypatch.setattr(adaptive, "__file__", str(tmp_path / "adaptive" / "__init__.py"))
    finding = checks.foreign_adaptive()
    assert finding.state is State.FAIL
    assert str(tmp_path) in finding.found


def test_missing_and_unfitting_packages_are_named(monkeypatch):
    wanted = ["numpy>=99", "no-such-package-at-all>=1", 'other>=1; sys_platform == "nowhere"', 'x; extra == "judge"']
    monkeypatch.setattr(checks, "requirements", lambda: wanted)
    finding = checks.packages()
    assert finding.state is State.FAIL
    assert "no-such-package-at-all>=1 is missing" in finding.found
    assert "needed is >=99" in finding.found
    assert "other" not in finding.found


def test_a_port_that_is_taken_is_a_warning(monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        monkeypatch.setenv("LEGATO_PORT", str(taken.getsockname()[1]))
        finding = checks.port()
        told = [found for found in doctor.examine(port=taken.getsockname()[1]) if found.name == "port"]
    assert finding.state is State.WARN
    assert told == [finding]
    assert "--port" in (finding.todo or "")
    assert checks.port().state is State.OK


def test_the_cache_is_tried_where_it_is_set(tmp_path, monkeypatch):
    monkeypatch.setenv("LEGATO_CACHE_DIR", str(tmp_path / "new"))
    assert checks.cache().state is State.OK
    (tmp_path / "file").touch()
    monkeypatch.setenv("LEGATO_CACHE_DIR", str(tmp_path / "file" / "below"))
    finding = checks.cache()
    assert finding.state is State.FAIL
    assert "LEGATO_CACHE_DIR" in (finding.todo or "")


def test_no_browser_is_only_a_warning(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert checks.browser().state is State.WARN


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="cores cannot be chosen here")
def test_one_core_is_a_warning():
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        finding = checks.cpu()
    finally:
        os.sched_setaffinity(0, cores)
    assert finding.state is State.WARN
    assert finding.found.startswith("1 cores")


def test_an_old_python_fails(monkeypatch):
    monkeypatch.setattr(checks, "PYTHON", (sys.version_info.major, sys.version_info.minor + 1))
    assert checks.python().state is State.FAIL
