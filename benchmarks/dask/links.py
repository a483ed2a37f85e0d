"""Bytes from process to process. In: the sockets of processes. Out: bytes by who sent them and who received them.

The kernel counts the bytes of every TCP connection, so nothing that other programs send is among them. Each connection
is read at the end that received the bytes.
"""

import os
import socket
import struct
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

INFO_BYTES = 256
RECEIVED = struct.Struct("=128xQ")  # tcpi_bytes_received in struct tcp_info of <linux/tcp.h>
SOCKET = "socket:"
UNKNOWN = "others"

Ports = tuple[int, int]  # of this end and of the other one
Received = dict[Ports, int]  # bytes, by connection


def read_sockets() -> Received:
    """Bytes that this process received so far, by connection."""
    received: Received = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            if not os.readlink(f"/proc/self/fd/{name}").startswith(SOCKET):
                continue
            with socket.socket(fileno=os.dup(int(name))) as one:
                if one.family not in (socket.AF_INET, socket.AF_INET6) or one.type != socket.SOCK_STREAM:
                    continue
                ports = one.getsockname()[1], one.getpeername()[1]
                info = one.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, INFO_BYTES)
                (received[ports],) = RECEIVED.unpack_from(info)
        except OSError:  # it listens, or was closed meanwhile
            continue
    return received


@dataclass(frozen=True)
class Traffic:
    """Bytes received up to a moment, by process and connection."""

    processes: Mapping[str, Received]

    def since(self, before: "Traffic") -> Counter[tuple[str, str]]:
        """Bytes since then, by (sender, receiver)."""
        owners = {ports: name for name, received in self.processes.items() for ports in received}
        counts: Counter[tuple[str, str]] = Counter()
        for name, received in self.processes.items():
            earlier = before.processes.get(name, {})
            for (here, there), n_bytes in received.items():
                counts[owners.get((there, here), UNKNOWN), name] += n_bytes - earlier.get((here, there), 0)
        return counts

    def n_closed(self, before: "Traffic") -> int:
        """Ends of connections that have closed since, whose last bytes are unknown."""
        return sum(len(set(received) - set(self.processes[name])) for name, received in before.processes.items())
