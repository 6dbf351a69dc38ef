# SPDX-License-Identifier: Apache-2.0
"""Processes that convert or compare parts of a data set, each part in one of them; what they answer comes in the order of the parts."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading

from .. import _core, storage

_START = "import sys; sys.path[:] = sys.argv[1:]; from penstock.conversion.process import main; main()"
_ERRORS = {kind.__name__: kind for kind in (_core.DataError, ValueError, FileNotFoundError, OSError)}


def raised(error):
    """Returns the error that a process has told of.

    Args:
        error: (type, text).
    """
    return _ERRORS.get(error[0], _core.DataError)(error[1])


class Processes:
    """Processes with one job. They end with this one, however it ends.

    Args:
        count: How many.
        job: What they do, for JSON.
    """

    def __init__(self, count, job):
        self._answers, self._all = queue.Queue(), []
        job = {**job, "storage": storage._settings}
        for _ in range(count):
            process = subprocess.Popen(
                [sys.executable, "-c", _START, *sys.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            self._all.append(process)
            self._tell(process, job)
            threading.Thread(target=self._listen, args=(process,), daemon=True).start()

    def _tell(self, process, words):
        try:
            process.stdin.write(json.dumps(words) + "\n")
            process.stdin.flush()
        except OSError:  # it has ended: the thread that listens says so
            pass

    def _listen(self, process):
        for line in process.stdout:
            self._answers.put((process, json.loads(line)))
        self._answers.put((process, None))

    def answers(self, tasks):
        """Gives each task to a process that has none.

        Args:
            tasks: A list, for JSON.

        Returns:
            A generator of what the processes answer, in the order of the tasks.

        Raises:
            RuntimeError: A process has ended.
        """
        left, idle, made, given = iter(enumerate(tasks)), list(self._all), {}, {}
        for wanted in range(len(tasks)):
            while wanted not in made:
                while idle and (task := next(left, None)) is not None:
                    process = idle.pop()
                    given[process] = task[0]
                    self._tell(process, task[1])
                process, answer = self._answers.get()
                if answer is None:
                    raise RuntimeError(f"a process of the conversion has ended with code {process.wait()}")
                made[given[process]] = answer
                idle.append(process)
            yield made.pop(wanted)

    def close(self):
        """Ends the processes."""
        for process in self._all:
            process.kill()
        for process in self._all:
            process.wait()
            process.stdin.close()
            process.stdout.close()
