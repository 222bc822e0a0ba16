"""Runs a command as root of a user namespace with a network of its own, where the TUN rig works without being root.

`python -m quality.lab.own_network pytest tests/quality/lab/test_tun.py`. The kernel must allow unprivileged user
namespaces, and /dev/net/tun must be open to the user (on most distributions it is).
"""

import os
import shutil
import sys

PREPARE = 'mount -t tmpfs none /run && mkdir /run/netns && ip link set lo up && exec "$@"'
"""`ip netns` keeps its names in /run; loopback is down in a new network."""


def command(arguments: list[str]) -> list[str]:
    """What is run instead of `arguments`."""
    return ["unshare", "--user", "--map-root-user", "--net", "--mount", "sh", "-c", PREPARE, "sh", *arguments]


def main(arguments: list[str]) -> None:
    """Becomes the command."""
    if not arguments:
        raise SystemExit("Say what to run there: python -m quality.lab.own_network COMMAND…")
    if shutil.which("unshare") is None:
        raise SystemExit("A network of one's own needs unshare, of util-linux.")
    os.execvp("unshare", command(arguments))


if __name__ == "__main__":
    main(sys.argv[1:])
