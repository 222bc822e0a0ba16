"""The page's modules that run on given time, under the JavaScript engine that playwright brings."""

import subprocess
from pathlib import Path

import pytest

TESTS = sorted(Path(__file__).parent.glob("*.test.js"))
driver = pytest.importorskip("playwright._impl._driver", reason="no playwright: install the extra `test`")


@pytest.mark.parametrize("tests", TESTS, ids=lambda path: path.name.removesuffix(".test.js"))
def test_a_module_of_the_page(tests: Path) -> None:
    node, _ = driver.compute_driver_executable()
    done = subprocess.run([node, "--test-reporter=tap", tests], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "# pass 0" not in done.stdout
