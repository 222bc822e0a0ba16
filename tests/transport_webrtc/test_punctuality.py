import subprocess
import sys

PROGRAM = """
import os, subprocess, sys
from transport_webrtc.punctuality import ask_for_punctuality, settle
got = ask_for_punctuality()
settle()
policy = os.sched_getscheduler(0) & ~os.SCHED_RESET_ON_FORK
child = subprocess.run([sys.executable, "-c", "import os; print(os.sched_getscheduler(0), os.nice(0))"],
                       capture_output=True, text=True).stdout.split()
print(got, policy, *child)
"""


def test_the_process_gets_what_it_is_allowed_and_its_children_are_ordinary() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    got, policy, child_policy, child_nice = done.stdout.split()
    assert (got, policy) in {("real-time", "2"), ("preferred", "0"), ("ordinary", "0")}
    assert child_policy == "0"
    if got == "real-time":
        assert child_nice == "0"
