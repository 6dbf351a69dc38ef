# SPDX-License-Identifier: Apache-2.0
"""Machines of a network that exists only in a test: processes in network namespaces of their own, and what carries their packets.

Each namespace has a TUN device, whose packets one thread of the test takes, delays, loses or does not let through. So the
connections are those of the system's TCP, with its retransmissions and timeouts; the kernel needs no netem. Nothing has a name outside
of its namespace, and all of it ends with the processes.

    python tests/network_machine.py SOCKET ADDRESS COMMAND...     # the part in the namespace
"""

import ctypes
import fcntl
import heapq
import os
import random
import selectors
import socket
import struct
import subprocess
import sys
import threading
import time

_NEW_NETWORK = 0x40000000  # CLONE_NEWNET
_SET_DEVICE = 0x400454CA  # TUNSETIFF
_TUN_WITHOUT_HEADER = 0x0001 | 0x1000
_PREFIX = "10.213.0."  # in the namespaces alone


class Network:
    """Carries packets between machines, in a thread.

    Args:
        seed: Of which packets are lost and how long each takes.
    """

    def __init__(self, seed=0):
        self.random, self.machines = random.Random(seed), {}
        self.delay = self.jitter = self.loss = 0.0  # seconds, seconds, a share
        self.slow, self.cut = {}, set()  # more delay for an address; addresses that nobody reaches
        self.files, self.selector = {}, selectors.DefaultSelector()
        self.waiting, self.order = [], 0
        self.carried = self.lost = 0
        self.ends = False
        self.thread = threading.Thread(target=self._carry, daemon=True)
        self.thread.start()

    def start(self, *command, **options):
        """Starts a process on a machine of its own; returns it, with its `address`. "ADDRESS" in the command is replaced."""
        address = f"{_PREFIX}{len(self.files) + 1}"
        ours, theirs = socket.socketpair()
        command = [str(part).replace("ADDRESS", address) for part in command]
        process = subprocess.Popen(
            [sys.executable, __file__, str(theirs.fileno()), address, *command],
            pass_fds=[theirs.fileno()],
            stdout=subprocess.PIPE,
            text=True,
            **options,
        )
        theirs.close()
        ours.settimeout(30)
        said, files, _, _ = socket.recv_fds(ours, 2000, 1)
        ours.close()
        assert files, f"this machine lets no test make a network: {said.decode()}"
        os.set_blocking(files[0], False)
        process.address = address
        self.files[address] = files[0]
        self.selector.register(files[0], selectors.EVENT_READ, address)
        self.machines[address] = process
        return process

    def close(self):
        for process in self.machines.values():
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    stream.close()
        self.ends = True
        self.thread.join()
        for file in self.files.values():
            os.close(file)

    # --- in the thread ----------------------------------------------------------------------------------------------

    def _carry(self):
        while not self.ends:
            due = self.waiting[0][0] - time.monotonic() if self.waiting else 0.05
            for key, _ in self.selector.select(max(0.0, min(due, 0.05))) if self.files else (time.sleep(0.01) or ()):
                self._take(key.fd, key.data)
            while self.waiting and self.waiting[0][0] <= time.monotonic():
                _, _, address, packet = heapq.heappop(self.waiting)
                self._give(address, packet)

    def _take(self, file, sender):
        for _ in range(64):
            try:
                packet = os.read(file, 65536)
            except BlockingIOError:
                return
            if packet[0] >> 4 != 4:
                continue  # IPv6 looks for neighbors
            receiver = socket.inet_ntoa(packet[16:20])
            if receiver not in self.files or {sender, receiver} & self.cut or self.random.random() < self.loss:
                self.lost += 1
                continue
            delay = self.delay + self.random.uniform(0, self.jitter)
            delay += self.slow.get(sender, 0.0) + self.slow.get(receiver, 0.0)
            self.order += 1
            heapq.heappush(self.waiting, (time.monotonic() + delay, self.order, receiver, packet))

    def _give(self, address, packet):
        if address in self.cut:
            return
        try:
            os.write(self.files[address], packet)
            self.carried += 1
        except OSError:  # its queue is full, or it has gone
            self.lost += 1


def _in_namespace(meeting, address):
    """Makes the device and hands it to the test."""
    if ctypes.CDLL(None, use_errno=True).unshare(_NEW_NETWORK) != 0:
        raise OSError(ctypes.get_errno(), "unshare: " + os.strerror(ctypes.get_errno()))
    file = os.open("/dev/net/tun", os.O_RDWR | os.O_CLOEXEC)
    fcntl.ioctl(file, _SET_DEVICE, struct.pack("16sH22x", b"net", _TUN_WITHOUT_HEADER))
    for words in (f"address add {address}/24 dev net", "link set net up", "link set lo up"):
        subprocess.run(["ip", *words.split()], check=True, capture_output=True)
    socket.send_fds(meeting, [b"made"], [file])


def main():
    meeting, address, *command = sys.argv[1:]
    meeting = socket.socket(fileno=int(meeting))
    try:
        _in_namespace(meeting, address)
    except (OSError, subprocess.SubprocessError) as error:
        meeting.send(f"{type(error).__name__}: {error} (it takes root and /dev/net/tun)".encode())
        return 1
    meeting.close()
    os.execvp(command[0], command)


if __name__ == "__main__":
    sys.exit(main())
