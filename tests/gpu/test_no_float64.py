# SPDX-License-Identifier: Apache-2.0
"""Kernels compute in float64 only for elements that need it, or where the operator's page says why.

The machine code is read, not the text: the emulated GPU writes the kernels of random calls of every operator, NVRTC
compiles them for a card that has one float64 unit for 32 others, and instructions on float64 are counted. An exception is
`.float64(why)` in the operator's schema, which is also the sentence on its page.
"""

import ctypes
import json
import os
import pathlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from conftest import REAL
from penstock import _core

if REAL or _core.gpu_why_not():
    pytest.skip("machine: the emulated GPU writes the kernels", allow_module_level=True)

EXAMPLES = int(os.environ.get("PENSTOCK_TEST_COUNT", "0"))

PROGRAM = """
import json, os, pathlib, sys, warnings
import numpy as np
import operator_calls, penstock, strategies
from hypothesis import HealthCheck, Phase, given, settings
from penstock import _core, fn

warnings.simplefilter("ignore")
count, launches = int(sys.argv[1]), pathlib.Path(os.environ["PENSTOCK_EMULATED_TEXTS"]) / "launches"
narrow = {np.dtype(t) for t in "bool uint8 int8 uint16 int16 float16 float32".split()}
found = {}

def record(name, call):
    launches.write_text("")
    call()
    found.setdefault(name, set()).update(launches.read_text().split())

def is_narrow(case):
    types = [np.asarray(x[0]).dtype for x in case.inputs]
    types += [np.dtype(case.constants[k]) for k in ("dtype", "output_dtype") if k in case.constants]
    return all(t in narrow for t in types)

def calls(name):
    @settings(max_examples=20 * count, deadline=None, derandomize=True, database=None, phases=[Phase.generate],
              suppress_health_check=list(HealthCheck))
    @given(strategies.case_of(name))
    def check(case):
        nonlocal left
        if left and is_narrow(case):
            left -= 1
            record(name, lambda: operator_calls.call(name, case, **(
                {"moved": penstock.Batch.gpu} if case.inputs else {"device": "gpu"})))
    left = count
    check()

for name in _core.operators(True):
    if name in strategies.CASES:
        calls(name)
image = penstock.batch([np.zeros((9, 11, 3), np.uint8)], layout="HWC").gpu()
sound = penstock.batch([np.zeros(400, np.float32)]).gpu()
for name, more in {"random.uniform": {}, "random.normal": {}, "random.coin_flip": {}}.items():
    record(name, lambda: _core.operator_function(name)(shape=[7], batch_size=2, device="gpu", **more))
record("audio_resample", lambda: fn.audio_resample(sound, scale=0.5))
record("sphere", lambda: fn.sphere(image))
record("water", lambda: fn.water(image))
maps = [penstock.batch([np.ones((9, 11), np.float32)]).gpu() for _ in range(2)]
record("remap", lambda: fn.remap(image, *maps))
record("equalize", lambda: fn.equalize(image))
record("clahe", lambda: fn.clahe(image, tiles_x=2, tiles_y=2, clip_limit=2.0))
print(json.dumps({name: sorted(kernels) for name, kernels in found.items()}))
"""

OPTIONS = [b"--gpu-architecture=compute_75", b"--std=c++20", b"--fmad=false", b"-default-device"]
COMPUTES = re.compile(r"^\s*(?:@\S+\s+)?((?!ld|st|mov|selp|shfl)[a-z]\S*\.f64\S*)\s", re.M)


def nvrtc():
    folders = [pathlib.Path(p) for p in os.environ.get("PENSTOCK_NVIDIA_LIBS", "").split(os.pathsep) if p]
    folders += [pathlib.Path(p) / "nvidia/cu13/lib" for p in sys.path]
    for folder in folders:
        for library in folder.glob("libnvrtc.so.*"):
            for part in folder.glob("libnvrtc-builtins.so.*"):
                ctypes.CDLL(str(part), ctypes.RTLD_GLOBAL)
            return ctypes.CDLL(str(library))
    pytest.skip("machine: NVRTC is not installed")


def machine_code(library, text):
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    assert library.nvrtcCreateProgram(ctypes.byref(program), text, b"kernel.cu", 0, None, None) == 0
    made = library.nvrtcCompileProgram(program, len(OPTIONS), (ctypes.c_char_p * len(OPTIONS))(*OPTIONS))
    length, get = ("PTX", "PTX") if made == 0 else ("ProgramLog", "ProgramLog")
    assert getattr(library, f"nvrtcGet{length}Size")(program, ctypes.byref(size)) == 0
    code = ctypes.create_string_buffer(size.value)
    assert getattr(library, f"nvrtcGet{get}")(program, code) == 0
    library.nvrtcDestroyProgram(ctypes.byref(program))
    assert made == 0, code.value[:2000]
    return code.value.decode()


def test_float64_only_where_the_page_says_why(tmp_path):
    environment = {
        **os.environ,
        "PENSTOCK_EMULATED_TEXTS": str(tmp_path),
        "PENSTOCK_KERNELS": "compiled",
        "PYTHONPATH": os.pathsep.join([str(pathlib.Path(__file__).parents[1]), *sys.path]),
    }
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(min(EXAMPLES, 4) or 1)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr[-4000:]
    found, library = json.loads(run.stdout.splitlines()[-1]), nvrtc()
    assert len(found) > 100
    kernels = sorted({kernel for own in found.values() for kernel in own})

    def counts(kernel):
        return len(COMPUTES.findall(machine_code(library, (tmp_path / kernel).read_bytes())))

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        count = dict(zip(kernels, pool.map(counts, kernels)))
    computing = {name for name, own in found.items() if any(count[kernel] for kernel in own)}
    allowed = {name for name in found if _core.operator_schema(name)["float64"]}
    assert computing <= allowed, {n: [k for k in found[n] if count[k]] for n in computing - allowed}
