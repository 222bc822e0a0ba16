"""The binding finds a real libopus, and says what to do where there is none."""

import importlib.util
from pathlib import Path

import pytest

from adaptive.codec import libopus, version


@pytest.fixture
def unbound():
    libopus.load.cache_clear()
    yield
    libopus.load.cache_clear()


def test_the_library_in_the_pyav_wheel_is_the_one_bound(unbound) -> None:
    spec = importlib.util.find_spec("av")
    assert spec is not None
    assert spec.origin is not None
    site = Path(spec.origin).parent.parent
    assert Path(libopus.load()._name).resolve().is_relative_to(site.resolve())
    assert version().startswith("libopus 1.")


def test_without_the_wheel_the_systems_library_is_taken(unbound, monkeypatch) -> None:
    in_wheel = libopus.load()._name
    libopus.load.cache_clear()
    monkeypatch.setattr(libopus, "_WHEEL_PATTERNS", ())
    monkeypatch.setattr(libopus.ctypes.util, "find_library", lambda name: in_wheel if name == "opus" else None)
    assert libopus.load()._name == in_wheel


def test_a_broken_library_is_passed_over_and_none_at_all_is_a_clear_import_error(
    unbound, monkeypatch, tmp_path
) -> None:
    broken = tmp_path / "libopus.so"
    broken.write_text("not a library")
    monkeypatch.setattr(libopus, "_WHEEL_PATTERNS", ())
    monkeypatch.setattr(libopus.ctypes.util, "find_library", lambda name: str(broken))
    with pytest.raises(ImportError, match=r"install PyAV.*Tried: .*libopus\.so"):
        libopus.load()
