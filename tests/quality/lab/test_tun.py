"""Real packets between two namespaces: what the rig does is what its settings say."""

import statistics
import subprocess
import sys
from collections.abc import Iterator

import pytest

from quality.lab.tun import CLIENT_ADDRESS, TunRig, available

pytestmark = pytest.mark.skipif(available() is not None, reason=str(available()))

COUNT = 1500

RECEIVE = f"""
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(("{CLIENT_ADDRESS}", 5000)); s.settimeout(3)
print("bound", flush=True)
try:
    while True:
        d = s.recv(2000); print(int.from_bytes(d[2:4], "big"), time.monotonic() - float(d[12:40]), flush=False)
except TimeoutError: pass
"""

SEND = f"""
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for i in range({COUNT}):
    header = b"\\x80\\x6f" + i.to_bytes(2, "big") + bytes(8)
    s.sendto(header + f"{{time.monotonic():028.6f}}".encode(), ("{CLIENT_ADDRESS}", 5000))
    time.sleep(.001)
"""


def stream(rig: TunRig) -> dict[int, float]:
    """Sends numbered packets through the rig; number → seconds it took, for those that arrived."""
    receiver = subprocess.Popen(
        ["ip", "netns", "exec", rig.client, sys.executable, "-c", RECEIVE], stdout=subprocess.PIPE, text=True
    )
    assert receiver.stdout is not None
    assert receiver.stdout.readline() == "bound\n"
    subprocess.run(["ip", "netns", "exec", rig.server, sys.executable, "-c", SEND], check=True)
    pairs = (line.split() for line in receiver.communicate(timeout=20)[0].splitlines())
    return {int(number): float(took) for number, took in pairs}


@pytest.fixture(scope="module")
def rig() -> Iterator[TunRig]:
    with TunRig(down={"delay_ms": 50, "loss": 0.1, "burst": 3}, seed=5) as rig:
        yield rig


def test_delay_loss_and_the_log_are_true(rig: TunRig) -> None:
    took = stream(rig)
    assert abs(statistics.median(took.values()) - 0.05) < 0.002
    logged = [entry for entry in rig.packets()["down"] if entry[1] == 0]
    assert len(logged) == COUNT
    assert {entry[2] for entry in logged if entry[4]} == set(took), "the log names exactly what arrived"
    assert rig.stats()["down"]["lost_packets"] == COUNT - len(took)


def test_a_wrong_setting_is_answered_with_a_sentence(rig: TunRig) -> None:
    with pytest.raises(ValueError, match="no setting 'los'"):
        rig.set("down", los=0.1)


def test_the_wire_names_every_packet_and_its_queue_and_a_restart_forgets(rig: TunRig) -> None:
    rig.restart(5)
    rig.set("down", delay_ms=50, rate_kbps=200, queue_bytes=30_000)
    took = stream(rig)
    wire = [entry for entry in rig.wire()["down"] if entry[1] == 68]
    assert len(wire) == COUNT
    assert len(took) + rig.stats()["down"]["overflow_packets"] == COUNT
    assert max(entry[2] for entry in wire) == pytest.approx(30_000 * 8 / 200, rel=0.02), "more came than could leave"
    assert max(took.values()) == pytest.approx(0.05 + 30_000 * 8 / 200_000, rel=0.05)
    rig.restart(6)
    assert rig.wire()["down"] == []
    assert rig.stats()["down"]["offered_packets"] == 0


def test_nothing_is_left_behind() -> None:
    with TunRig() as rig:
        names = {rig.server, rig.client}
        assert names <= set(subprocess.run(["ip", "netns"], capture_output=True, text=True, check=True).stdout.split())
    assert not names & set(subprocess.run(["ip", "netns"], capture_output=True, text=True, check=True).stdout.split())


def test_it_works_in_a_user_namespace() -> None:
    code = "from quality.lab.tun import TunRig\nwith TunRig() as rig: print(rig.stats()['down']['offered_packets'])"
    ran = subprocess.run(
        [sys.executable, "-m", "quality.lab.own_network", sys.executable, "-c", code], capture_output=True, text=True
    )
    if "unshare" in ran.stderr:
        pytest.skip(f"no user namespaces here: {ran.stderr.strip()}")
    assert ran.stdout == "0\n", ran.stderr
