# SPDX-License-Identifier: Apache-2.0
"""Waits until all other threads of this process sleep: an executor whose queues are full, a destructor that has ended.

A count of what an executor has done is exact only then: it runs ahead of what was requested of it.
"""

import os
import threading
import time


def _others():
    """For each other thread: whether it sleeps, and how often it has given up its core or lost it."""
    found, own = {}, threading.get_native_id()
    for number in os.listdir("/proc/self/task"):
        if int(number) == own:
            continue
        try:
            with open(f"/proc/self/task/{number}/status") as file:
                lines = dict(line.split(":", 1) for line in file)
        except (FileNotFoundError, ProcessLookupError):  # it has ended
            continue
        switches = [int(lines[f"{kind}_ctxt_switches"]) for kind in ("voluntary", "nonvoluntary")]
        found[number] = (lines["State"].split()[0] == "S", switches)
    return found


def wait_for_rest(most=20_000):
    """Returns when no other thread has run between two looks at all of them, and all slept at both.

    A thread that is woken is no longer asleep from that moment, and one that was asleep again at the second look has
    switched meanwhile. So at a time between the looks all slept, and only a timer or another process can wake one.
    """
    before = _others()
    for _ in range(most):
        time.sleep(0.001)  # those that wait for Python's lock get it
        now = _others()
        if now == before and all(sleeps for sleeps, _ in now.values()):
            return
        before = now
    raise AssertionError(f"threads do not come to rest: {now}")
