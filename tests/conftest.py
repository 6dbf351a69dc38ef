# SPDX-License-Identifier: Apache-2.0
"""Sets how many random cases the tests try, and makes a skip in CI a failure.

PENSTOCK_TEST_COUNT=N sets hypothesis' number of examples (`make test-long` does). With CI set, a skip is a failure,
because CI installs every framework that the tests use; only a reason that begins with "machine:" may skip there, for
what no install can add, such as a CPU instruction set.

Generators of random numbers that belong to a module begin again for each test and each fixture: what a test draws does
not depend on which tests its process has run before, which with several processes is a matter of their speed.
"""

import atexit
import os
import pathlib
import shutil
import sys
import tempfile

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

EXAMPLES = int(os.environ.get("PENSTOCK_TEST_COUNT", "0"))
if "PENSTOCK_CACHE" not in os.environ:  # tests write nothing to the user's own
    os.environ["PENSTOCK_CACHE"] = tempfile.mkdtemp(prefix="penstock_cache_")
    atexit.register(shutil.rmtree, os.environ["PENSTOCK_CACHE"], ignore_errors=True)
# A stage waits for its own kernel, so that what runs does not depend on how fast it is compiled.
os.environ.setdefault("PENSTOCK_KERNELS", "compiled")
IN_CI = os.environ.get("CI", "") not in ("", "0", "false")

_slow_machine = dict(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
settings.register_profile("short", max_examples=25, derandomize=True, **_slow_machine)
settings.register_profile("long", max_examples=EXAMPLES or 300, **_slow_machine)
settings.load_profile("long" if EXAMPLES else "short")


def _fail_if_skipped(report):
    if not (IN_CI and report.skipped) or hasattr(report, "wasxfail"):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    reason = reason.removeprefix("Skipped: ")
    if not reason.startswith("machine:"):
        report.outcome = "failed"
        report.longrepr = f"skipped in CI: {reason}"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    _fail_if_skipped(outcome.get_result())


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector):
    outcome = yield
    _fail_if_skipped(outcome.get_result())


_generators = []  # and their states after the import of their modules


def pytest_collection_finish(session):
    here = str(pathlib.Path(__file__).parent)
    for module in list(sys.modules.values()):
        if (getattr(module, "__file__", None) or "").startswith(here):
            found = [value for value in vars(module).values() if isinstance(value, np.random.Generator)]
            _generators.extend((generator.bit_generator, generator.bit_generator.state) for generator in found)


def _begin_again():
    for generator, state in _generators:
        generator.state = state


@pytest.hookimpl(tryfirst=True)
def pytest_fixture_setup(fixturedef, request):
    _begin_again()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item):
    _begin_again()


@pytest.fixture(scope="session")
def oracle():
    """nvidia.dali in a process of its own."""
    import dali_oracle

    if not dali_oracle.available():
        pytest.skip("nvidia.dali is not installed: make test installs it")
    asked = dali_oracle.Oracle()
    yield asked
    asked.close()
