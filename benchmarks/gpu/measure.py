# SPDX-License-Identifier: Apache-2.0
"""How things are timed: interleaved rounds and their medians, CUDA events around calls back to back, CUPTI's kernels through
torch's profiler, CPU time of the process and its children.

Without a GPU (run.py --smoke) the same code runs with wall clocks, so that nothing is written wrong.
"""

import dataclasses
import functools
import json
import os
import statistics
import tempfile
import time

import torch

CUDA = torch.cuda.is_available()


@dataclasses.dataclass
class Settings:
    smoke: bool = False
    rounds: int = 3
    seconds: float = 1.2  # of a round of a pipeline
    milliseconds: float = 20.0  # of a round of an operator
    data: str = ""
    only: str = ""  # "penstock" or a peer: leaves out the others

    def files(self, kind):
        return os.path.join(self.data, kind)


def own_stream():
    """Some libraries treat the default stream in a way of their own; nobody is measured on it."""
    if CUDA:
        torch.cuda.set_stream(torch.cuda.Stream())


def synchronize():
    if CUDA:
        torch.cuda.synchronize()


def cpu_seconds():
    """Of this process with its threads, and of its living children."""
    own = os.times()
    total = own.user + own.system
    try:
        import psutil
    except ImportError:
        return total
    for child in psutil.Process().children(recursive=True):
        try:
            times = child.cpu_times()
            total += times.user + times.system
        except psutil.Error:
            pass
    return total


def window(step, seconds, least=3):
    """Steps a second and busy cores over at least `seconds`."""
    synchronize()
    cpu, begin, count = cpu_seconds(), time.perf_counter(), 0
    while count < least or time.perf_counter() - begin < seconds:
        step()
        count += 1
    synchronize()
    wall = time.perf_counter() - begin
    return count / wall, (cpu_seconds() - cpu) / wall


def race_steps(methods, items, settings, untimed=4):
    """Throughput of pipelines, in turns. methods: {name: function that makes a step}. Returns rows and failures."""
    steps, failed = {}, {}
    for name, start in methods.items():
        try:
            steps[name] = start()
            for _ in range(untimed):
                steps[name]()
            synchronize()
        except Exception as error:  # a peer that is absent or does not take part
            failed[name] = f"{type(error).__name__}: {str(error)[:300]}"
            steps.pop(name, None)
    rates, cores = {name: [] for name in steps}, {name: [] for name in steps}
    for _ in range(settings.rounds):
        for name, step in steps.items():
            if name in failed:
                continue
            try:
                for _ in range(2 if settings.smoke else 12):  # what was prefetched while others ran
                    step()
                rate, busy = window(step, settings.seconds)
            except Exception as error:
                failed[name] = f"{type(error).__name__}: {str(error)[:300]}"
                continue
            rates[name].append(rate * items)
            cores[name].append(busy)
    rows = [
        {
            "method": name,
            "rate": statistics.median(rates[name]),
            "least": min(rates[name]),
            "most": max(rates[name]),
            "cores": round(statistics.median(cores[name]), 2),
        }
        for name in steps
        if rates[name]
    ]
    return rows, failed


def back_to_back(call, settings):
    """Microseconds a call: of the device (events around many calls), and of the host that submits them."""
    for _ in range(3):
        call()
    synchronize()
    begin = time.perf_counter()
    call()
    call()
    synchronize()
    count = int(min(400, max(3, settings.milliseconds / 1e3 / max((time.perf_counter() - begin) / 2, 1e-6))))
    if CUDA:
        stream = torch.cuda.current_stream()
        first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        first.record(stream)
    begin = time.perf_counter()
    for _ in range(count):
        call()
    host = time.perf_counter() - begin
    if CUDA:
        last.record(stream)
        synchronize()
        # the larger of both: work on other streams is not between the events
        return max(first.elapsed_time(last) * 1e3, (time.perf_counter() - begin) * 1e6) / count, host / count * 1e6
    return host / count * 1e6, host / count * 1e6


def race_calls(methods, settings, floor_us=None, traced=True):
    """Time of operators, in turns. methods: {name: function that makes a call}."""
    calls, failed = {}, {}
    for name, make in methods.items():
        try:
            calls[name] = make()
            calls[name]()
            synchronize()
        except Exception as error:
            failed[name] = f"{type(error).__name__}: {str(error)[:300]}"
            calls.pop(name, None)
    times = {name: [] for name in calls}
    for _ in range(settings.rounds):
        for name, call in calls.items():
            times[name].append(back_to_back(call, settings))
    rows = []
    for name, measured in times.items():
        device = [t[0] for t in measured]
        row = {
            "method": name,
            "us": statistics.median(device),
            "least": min(device),
            "most": max(device),
            "host_us": statistics.median(t[1] for t in measured),
        }
        if traced and CUDA:
            try:
                row.update(trace(calls[name], 4 if settings.smoke else 20))
            except Exception as error:
                row["trace_failed"] = str(error)[:200]
        if floor_us:
            row["floor_us"] = floor_us
            row["of_copy"] = (
                floor_us / row.get("kernel_us", row["us"]) if row.get("kernel_us") else floor_us / row["us"]
            )
        rows.append(row)
    return rows, failed


UNWANTED = (
    "cudaDeviceSynchronize",
    "cudaMalloc",
    "cudaFree",
    "cuMemAlloc_v2",
    "cuMemFree_v2",
    "cuCtxSynchronize",
    "cudaStreamSynchronize",
    "cudaEventSynchronize",
    "cuStreamSynchronize",
)


def recorded_events(call, count):
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as recorded:
        for _ in range(count):
            call()
        synchronize()
    handle, path = tempfile.mkstemp(".json")
    os.close(handle)
    recorded.export_chrome_trace(path)
    with open(path) as file:
        events = json.load(file)["traceEvents"]
    os.unlink(path)
    return events


def unwanted_calls(events):
    calls = [e["name"] for e in events if e.get("cat") in ("cuda_runtime", "cuda_driver")]
    return {name: calls.count(name) for name in UNWANTED}


@functools.cache
def calls_of_the_measurement():
    """What synchronize() and the profiler's own end call, seen where nothing else is done."""
    return unwanted_calls(recorded_events(lambda: None, 1))


def trace(call, count, warm=2, top=6):
    """Kernels, copies and their time a call, and the CUDA calls that a steady state must not make."""
    own = calls_of_the_measurement()
    for _ in range(warm):
        call()
    synchronize()
    events = recorded_events(call, count)
    kernels = [e for e in events if e.get("cat") == "kernel"]
    copies = [e for e in events if e.get("cat") in ("gpu_memcpy", "gpu_memset")]
    names = {}
    for e in kernels:
        entry = names.setdefault(e["name"].removeprefix("void ")[:60], [0, 0.0])
        entry[0] += 1
        entry[1] += e["dur"]
    found = {name: n - own[name] for name, n in unwanted_calls(events).items()}

    def a_call(n):  # what runs ahead of its calls has one more or less of a kernel in the window
        whole = round(n / count)
        return whole if whole and abs(n / count - whole) <= 1.5 / count else n / count

    return {
        "kernel_us": sum(us / n * a_call(n) for n, us in names.values()),
        "kernels": sum(a_call(n) for n, _ in names.values()),
        "copies": a_call(len(copies)),
        "copy_us": sum(e["dur"] for e in copies) / count,
        "top": [[name, n / count, us / count] for name, (n, us) in sorted(names.items(), key=lambda x: -x[1][1])[:top]],
        "of_the_measurement": {name: n for name, n in own.items() if n},
        "host_calls": {name: n / count for name, n in found.items() if n > 0},
    }


def copy_bandwidth(settings):
    """Bytes read plus written a second by a copy on the device: the roofline of this run."""
    size = 1 << 22 if settings.smoke or not CUDA else 2 << 30
    device = "cuda" if CUDA else "cpu"
    a = torch.randint(0, 255, (size,), dtype=torch.uint8, device=device)
    b = torch.empty_like(a)
    times = [back_to_back(lambda: b.copy_(a), settings)[0] for _ in range(3)]
    return 2 * size / (statistics.median(times) * 1e-6)


def machine():
    facts = {
        "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "cores": os.cpu_count(),
        "torch": torch.__version__,
        "gpu": torch.cuda.get_device_name(0) if CUDA else "none (emulated)",
    }
    try:
        import pynvml

        pynvml.nvmlInit()
        handle = pynvml.nvmlDeviceGetHandleByIndex(0)
        facts["driver"] = pynvml.nvmlSystemGetDriverVersion()
        facts["sm_mhz"] = pynvml.nvmlDeviceGetClockInfo(handle, pynvml.NVML_CLOCK_SM)
    except Exception:
        pass
    for module, name in (
        ("nvidia.dali", "DALI"),
        ("cvcuda", "CV-CUDA"),
        ("penstock", "Penstock"),
        ("torchvision", "torchvision"),
    ):
        try:
            facts[name] = __import__(module, fromlist=["__version__"]).__version__
        except Exception:
            facts[name] = None
    return facts


class GpuUse:
    """Mean use of the multiprocessors and of the JPEG engine over a stretch, by NVML."""

    def __enter__(self):
        import threading

        self.samples, self.jpeg, self.stop = [], [], threading.Event()
        self.thread = threading.Thread(target=self._sample, daemon=True)
        self.thread.start()
        return self

    def _sample(self):
        try:
            import pynvml

            pynvml.nvmlInit()
            handle = pynvml.nvmlDeviceGetHandleByIndex(0)
            while not self.stop.wait(0.1):
                self.samples.append(pynvml.nvmlDeviceGetUtilizationRates(handle).gpu)
                try:
                    self.jpeg.append(pynvml.nvmlDeviceGetJpgUtilization(handle)[0])
                except Exception:
                    pass
        except Exception:
            pass

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()
        self.mean = statistics.mean(self.samples) if self.samples else None
        self.mean_jpeg = statistics.mean(self.jpeg) if self.jpeg else None
