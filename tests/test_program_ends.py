# SPDX-License-Identifier: Apache-2.0
"""Programs end soon, before their functions would return, with the status that they chose, whatever their threads and functions do."""

import os
import signal
import subprocess
import sys
import time

import pytest

COUNT = max(3, int(os.environ.get("PENSTOCK_TEST_COUNT", "0")) // 6)


LONG = "PENSTOCK_TEST_COUNT" in os.environ  # only then how soon they end is measured


def slow():
    """How much longer everything takes now, on a busy machine."""
    return float(os.environ.get("PENSTOCK_TEST_SLOW", "1")) * (2 + os.getloadavg()[0] / os.cpu_count())


BEGIN = """
import os, sys, threading, time
import numpy as np
import penstock
from penstock import fn, pipeline_def
stand = lambda *_: (print("stands", flush=True), time.sleep(600))[1]
"""


def begun(text, **options):
    return subprocess.Popen(
        [sys.executable, "-c", BEGIN + text], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


def ended(process, seconds=240):
    try:
        out, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    return process.returncode, out, errors


DAEMONS = {
    "immediate calls": """
x = np.zeros((600, 600, 3), np.uint8)
def work():
    while True:
        fn.flip(x)
""",
    "pipelines": """
@pipeline_def(batch_size=4, num_threads=2)
def pipe():
    return fn.flip(fn.external_source(lambda: np.zeros((4, 50, 50, 3), np.uint8)))
def work():
    p = pipe()
    while True:
        p.run()
""",
    "functions": """
@pipeline_def(batch_size=4, num_threads=2)
def pipe():
    x = fn.external_source(lambda: np.zeros((4, 9, 9, 3), np.uint8))
    return fn.python_function(x, function=lambda a: a + 1, num_workers=2)
def work():
    p = pipe()
    while True:
        p.run()
""",
}


@pytest.mark.parametrize("what", DAEMONS)
def test_a_program_with_daemon_threads_ends_with_its_status(what):
    text = (
        DAEMONS[what]
        + """
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.05)
sys.exit(7)
"""
    )
    for _ in range(0, COUNT, 3):
        for process in [begun(text) for _ in range(3)]:
            code, _, errors = ended(process)
            assert code == 7 and not errors, errors


STANDING = {
    "a source": ("", "fn.external_source(stand)"),
    "a python_function": ("", "fn.python_function(fn.external_source(lambda: np.zeros((1, 1))), function=stand)"),
    "threads": ("", "fn.python_function(fn.external_source(lambda: np.zeros((4, 1))), function=stand, num_workers=4)"),
    "processes": (
        "",
        "fn.python_function(fn.external_source(lambda: np.zeros((4, 1))), function=stand, num_workers=2, processes=True)",
    ),
    "a parallel source": ("py_num_workers=2", "fn.external_source(lambda i: stand(), batch=False, parallel=True)"),
}


@pytest.mark.parametrize("what", STANDING)
def test_an_interrupt_ends_a_program_whose_function_hangs(what):
    options, node = STANDING[what]
    process = begun(f"""
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
@pipeline_def(batch_size=4, num_threads=2, {options})
def pipe():
    return {node}
p = pipe()
p.build()
try:
    p.run()
except KeyboardInterrupt:
    begin = time.monotonic()
    p.close()
    del p
    print("closed in", time.monotonic() - begin, flush=True)
    sys.exit(9)
""")
    assert process.stdout.readline().startswith("stands")  # of several threads or processes the lines may mix
    time.sleep(0.05)
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    code, out, errors = ended(process)
    assert code == 9, errors
    assert not LONG or time.monotonic() - begin < 1.5 * slow(), out


def test_del_of_a_pipeline_whose_function_hangs_returns():
    process = begun("""
@pipeline_def(batch_size=1, num_threads=1)
def pipe():
    return fn.external_source(stand)
p = pipe()
p.schedule_run()
time.sleep(0.1)
begin = time.monotonic()
del p
print(time.monotonic() - begin)
""")
    code, out, errors = ended(process)
    assert code == 0 and not errors
    assert not LONG or float(out.split("\n")[1]) < 1 * slow()


OWN = {
    "a source": "fn.external_source(lambda: p.run()[0])",
    "a python_function": "fn.python_function(fn.external_source(lambda: np.zeros((2, 1))), function=lambda a: p.run()[0])",
    "threads": "fn.python_function(fn.external_source(lambda: np.zeros((2, 1))), function=lambda a: p.run()[0], num_workers=2)",
    "another pipeline": "fn.external_source(lambda: q.run()[0])",
}


@pytest.mark.parametrize("what", OWN)
def test_a_function_that_runs_its_own_pipeline_gets_an_error(what):
    process = begun(f"""
@pipeline_def(batch_size=2, num_threads=1)
def other():
    return fn.external_source(lambda: p.run()[0])
@pipeline_def(batch_size=2, num_threads=1)
def pipe():
    return {OWN[what]}
p, q = pipe(), other()
p.build(), q.build()
try:
    p.run()
except Exception as error:
    print(type(error).__name__, error)
""")
    code, out, errors = ended(process)
    # Of two pipelines that call each other, the inner one may come back before the outer one waits for it: then it
    # sees only that another thread is in the outer one.
    said = ["the pipeline itself", *["another thread is using this pipeline"] * (what == "another pipeline")]
    assert code == 0 and any(text in out for text in said), out + errors


def test_two_threads_in_one_pipeline_are_refused():
    process = begun("""
@pipeline_def(batch_size=1, num_threads=1)
def pipe():
    return fn.external_source(lambda: (refused.wait(60), np.zeros((1, 1)))[1])
refused = threading.Event()  # a thread is in the pipeline until the other one has been
p = pipe()
p.build()
said = []
def work():
    try:
        p.run()
    except ValueError as error:
        said.append(str(error))
        refused.set()
threads = [threading.Thread(target=work) for _ in range(2)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print(said)
p.run()
""")
    code, out, errors = ended(process)
    assert code == 0, errors
    assert out.count("another thread is using this pipeline") == 1


def test_a_pipeline_that_another_thread_waits_for_can_be_closed():
    process = begun("""
@pipeline_def(batch_size=1, num_threads=1)
def pipe():
    return fn.external_source(lambda: (waits.set(), stand()))
waits = threading.Event()
p = pipe()
def work():
    try:
        p.run()
    except ValueError as error:
        print(error)
t = threading.Thread(target=work)
t.start()
waits.wait()
p.close()
t.join()
""")
    code, out, errors = ended(process)
    assert code == 0 and "closed while a batch was requested" in out, out + errors


LIMITS = """
import resource
@pipeline_def(batch_size=1, num_threads=64)
def pipe():
    return fn.external_source(lambda: np.zeros((1, 1)))
resource.setrlimit({which}, ({limit}, {limit}))
try:
    pipe().build()
except MemoryError as error:
    print(error)
"""


def test_a_system_without_room_for_threads_is_named():
    code, out, errors = ended(
        begun(
            LIMITS.format(
                which="resource.RLIMIT_AS",
                limit="(int(open('/proc/self/statm').read().split()[0]) * 4096 + (40 << 20))",
            )
        )
    )
    assert code == 0 and "refuses to start another thread" in out and "num_threads" in out, out + errors
