# SPDX-License-Identifier: Apache-2.0
"""Times of every operator of the registry on the GPU: 32 images of 1080p, uint8 and float32, uniform and ragged batches.

    python benchmarks/gpu/operators.py [--only REGEX ...] [--rounds N] [--json FILE]          beside CV-CUDA, if it is installed
    python benchmarks/gpu/operators.py --out operators.md [--names NAME ...] BEFORE AFTER     builds side by side

A time is that of one call among 12 that the device works off in a row, the median of the turns; CV-CUDA's calls are in the same process
and take turns with Penstock's. With BEFORE and AFTER, which are folders with an installed package, each round starts a process for
each build, and the table has the medians of the rounds. Ragged images have 0.75 to 1.25 times the sides of the uniform ones. Rows that do
not fit into `--seconds` are left out: those beside CV-CUDA come first, of each the uniform batches of uint8.
"""

import argparse
import contextlib
import functools
import importlib.util
import json
import os
import re
import statistics
import subprocess
import sys
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

BATCH, HEIGHT, WIDTH, CALLS, TURNS = 32, 1080, 1920, 12, 3
CANVAS = (1400, 2500)
LEVEL = 0.95  # a row with this ratio is not slower: less is noise
COMMON = re.compile(  # rows that CV-CUDA has (cvcuda_calls.py)
    "resize |random_resized|warp_|rotate|remap|flip|transpose CHW|crop$|slice|cast|paste|equalize|gaussian_blur|laplacian 3"
    "|sift|inpaint|median_blur|dilate|erode|noise.gaussian|brightness|contrast|hue|saturation|color_|clahe$|jpeg"
)
SLOW = 0.05  # seconds: a call that takes longer is timed once, after two to warm up


@functools.lru_cache(maxsize=8)
def images(kind, dtype, ragged):
    """The samples of a kind of operator_data.py as tensors on the GPU, larger than there."""
    import numpy as np
    import operator_data
    import torch

    generator = torch.Generator("cuda").manual_seed(len(kind))
    sizes = np.random.default_rng(1).uniform(0.75, 1.25, (BATCH, 2)) if ragged else np.ones((BATCH, 2))
    sides = [(int(HEIGHT * a), int(WIDTH * b)) for a, b in sizes]

    def soft(height, width, channels, most=255.0):
        coarse = torch.rand(1, channels, height // 36, width // 36, device="cuda", generator=generator) * most
        return torch.nn.functional.interpolate(coarse, size=(height, width), mode="bilinear")[0].permute(1, 2, 0)

    typed = lambda x: x.to(getattr(torch, dtype)).contiguous()
    makers = {
        "image": lambda h, w: typed(soft(h, w, 3)),
        "gray": lambda h, w: typed(soft(h, w, 1)),
        "plane": lambda h, w: typed(soft(h & ~1, w & ~1, 1))[..., 0].contiguous(),
        "nv12": lambda h, w: typed(soft((h & ~3) * 3 // 2, w & ~1, 1)),
        "yuyv": lambda h, w: typed(soft(h, w & ~1, 2)),
        "rgba": lambda h, w: typed(soft(h, w, 4)),
        "frames": lambda h, w: torch.stack([typed(soft(h // 2, w // 2, 3)) for _ in range(4)]),
        "mask": lambda h, w: (soft(h, w, 1, 5.99)).to(torch.int32).contiguous(),
        "chosen": lambda h, w: (soft(h, w, 3) > 127).contiguous(),
        "few": lambda h, w: typed(soft(h, w, 3, 5.0)),
        "unit": lambda h, w: (soft(h, w, 3, 0.98) + 0.01).contiguous(),
        "more": lambda h, w: (soft(h, w, 3, 8.0) + 1.01).contiguous(),
        "holes": lambda h, w: torch.as_tensor(operator_data.holes(np.random.default_rng(h), h, w)).cuda(),
        "map_x": lambda h, w: waves(h, w)[0],
        "map_y": lambda h, w: waves(h, w)[1],
    }
    plain = kind.rstrip("'")
    if plain in makers:
        return [makers[plain](*side) for side in sides]
    return operator_data.samples(kind, dtype, BATCH, ragged)


def waves(height, width):
    import torch

    grid = torch.meshgrid(torch.arange(height, device="cuda"), torch.arange(width, device="cuda"), indexing="ij")
    y, x = (part.float() for part in grid)
    return (x + 6 * torch.sin(y / 20)).contiguous(), (y + 6 * torch.cos(x / 20)).contiguous()


@functools.lru_cache(maxsize=8)
def batch_of(kind, dtype, ragged):
    import operator_data

    import penstock

    made = images(kind, dtype, ragged)
    if kind in ("map_x", "map_y") and not ragged:
        return made[0]
    if not ragged and hasattr(made[0], "is_cuda"):
        made = list(stacked(kind, dtype))  # the tensor that CV-CUDA gets
    batch = penstock.batch(made, layout=operator_data.LAYOUTS.get(kind.rstrip("'"), ""))
    return batch if batch.device_type == "gpu" else batch.gpu()


def penstock_call(row, dtype, ragged):
    import operator_rows

    from penstock import fn, math, types

    size = {"batch_size": BATCH, "device": "gpu"}
    f = operator_rows.modules(fn, types, math, BATCH, size, CANVAS)
    batches = [batch_of(kind, dtype, ragged) for kind in row.kinds]
    return operator_rows.prepared(row, f, batches)


def cvcuda_call(row, dtype, ragged):
    import cvcuda_calls

    if row.kinds[0] not in ("image", "gray") or dtype not in ("uint8", "float32"):
        return None
    made = images(row.kinds[0], dtype, ragged)
    return cvcuda_calls.call_of(row.name, made if ragged else stacked(row.kinds[0], dtype), ragged)


@functools.lru_cache(maxsize=8)
def stacked(kind, dtype):
    import torch

    return torch.stack(images(kind, dtype, False))


class Lane:
    """One library's call on a stream of its own."""

    def __init__(self, name, call):
        import torch

        self.name, self.call, self.times = name, call, []
        self.stream = torch.cuda.Stream()
        self.turn(2)  # the second call finds that samples are alike, and compiles another kernel for them
        again = self.turn(1)
        self.calls, self.slow = (1 if again > SLOW else CALLS), again > SLOW
        if self.slow:
            self.times.append(again)

    @contextlib.contextmanager
    def on_stream(self):
        import torch

        with torch.cuda.stream(self.stream):
            if self.name != "cvcuda":
                yield
                return
            import cvcuda_calls

            with cvcuda_calls.stream_of(self.stream):
                yield

    def turn(self, calls):
        import torch

        with self.on_stream():
            start = time.perf_counter()
            for _ in range(calls):
                self.call()
            torch.cuda.synchronize()
            return (time.perf_counter() - start) / calls

    def one_turn(self):
        if not self.slow:
            self.times.append(self.turn(self.calls))

    @property
    def microseconds(self):
        return 1e6 * statistics.median(self.times)


def lanes_of(row, dtype, ragged, beside):
    """The lanes that run, and why others do not."""
    made, errors = [], {}
    makers = {"penstock": penstock_call, **({"cvcuda": cvcuda_call} if beside else {})}
    for name, maker in makers.items():
        try:
            call = maker(row, dtype, ragged)
            if call:
                made.append(Lane(name, call))
        except Exception as e:
            text = (str(e).splitlines() or [""])[0]
            errors[name] = f"{type(e).__name__}: {text[:160]}"
    return made, errors


def measure(row, dtype, ragged, beside, turns):
    lanes, errors = lanes_of(row, dtype, ragged, beside)
    for _ in range(turns):
        for lane in lanes:
            lane.one_turn()
    found = {"row": row.name, "type": dtype, "ragged": ragged, "errors": errors}
    found |= {lane.name: lane.microseconds for lane in lanes}
    if len(lanes) == 2:
        found["ratio"] = found["cvcuda"] / found["penstock"]
    return found


def variants(options):
    """(row, dtype, ragged): first what CV-CUDA has too; uniform batches of uint8, then of float32, then ragged ones."""
    from operator_rows import ROWS

    found = [
        (row, dtype, ragged)
        for ragged in (False, True)
        for dtype in ("uint8", "float32")
        for row in ROWS.values()
        if dtype in row.dtypes and dtype in options.dtypes and ragged in row.shapes
        if not options.only or any(re.match(word, row.name) for word in options.only)
    ]
    return sorted(found, key=lambda variant: not COMMON.match(variant[0].name))


def copy_of_the_batch():
    """Microseconds of a copy of the images by torch, for comparison."""
    import torch

    x = stacked("image", "uint8")
    lane = Lane("torch", x.clone)
    for _ in range(TURNS):
        lane.one_turn()
    torch.cuda.synchronize()
    return lane.microseconds


def measure_all(options, say):
    import operator_rows

    from penstock import _core

    operator_rows.check_registry(_core.operators(True))
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    beside = options.beside and importlib.util.find_spec("cvcuda") is not None
    end, found, left_out = time.monotonic() + options.seconds, [], 0
    # An operator without a kernel would run on the CPU: the warnings that say so are errors here.
    warnings.filterwarnings("error", message=".*(has no GPU kernel|copied from the GPU to the CPU).*")
    say(f"A copy of the batch of uint8 takes {copy_of_the_batch():.0f} µs.\n")
    say("| operator | type | batch | Penstock, µs | CV-CUDA, µs | ratio | |\n|---|---|---|---|---|---|---|")
    for row, dtype, ragged in variants(options):
        if time.monotonic() > end:
            left_out += 1
            continue
        found.append(measure(row, dtype, ragged, beside, TURNS * options.rounds))
        say(shown(found[-1]))
    say("\n" + summary(found) + (f"; no time for {left_out}" if left_out else ""))
    return found


def named(found):
    return f"{found['row']} | {found['type']} | {'ragged' if found['ragged'] else 'uniform'}"


def shown(found):
    number = lambda name: f"{found[name]:.0f}" if name in found else ""
    ratio = found.get("ratio")
    marked = "" if ratio is None else f"{ratio:.2f}" if ratio >= LEVEL else f"**{ratio:.2f}**"
    why = "; ".join(f"{who}: {text}" for who, text in found["errors"].items())
    if not why and ratio is not None:
        import cvcuda_calls

        why = cvcuda_calls.NOTES.get(found["row"], "")
    return f"| {named(found)} | {number('penstock')} | {number('cvcuda')} | {marked} | {why} |"


def summary(found):
    ratios = sorted(f["ratio"] for f in found if "ratio" in f)
    without = sorted({f["row"] for f in found if "penstock" not in f})
    text = f"{len(found)} rows; on no GPU: {', '.join(without) or 'none'}"
    if ratios:
        share = 100 * sum(ratio >= LEVEL for ratio in ratios) / len(ratios)
        text += f"\n{len(ratios)} rows beside CV-CUDA: {share:.1f} % not slower than {LEVEL}, least {ratios[0]:.2f}"
        text += f", median {statistics.median(ratios):.2f}"
    return text


def table(builds, rounds):
    lines = [
        "| operator | type | batch | " + " | ".join(f"{b}, µs" for b in builds) + " | first / last |",
        "|---|---|---|" + "---|" * (len(builds) + 1),
    ]
    times = {build: {} for build in builds}
    for build in builds:
        for found in (f for one in rounds[build] for f in one if "penstock" in f):
            times[build].setdefault(named(found), []).append(found["penstock"])
    for name in dict.fromkeys(name for build in builds for name in times[build]):
        values = [statistics.median(times[build][name]) if name in times[build] else None for build in builds]
        ratio = f"{values[0] / values[-1]:.2f}" if values[0] and values[-1] else ""
        lines.append(f"| {name} | " + " | ".join(f"{v:.0f}" if v else "" for v in values) + f" | {ratio} |")
    return "\n".join(lines) + "\n"


def side_by_side(options):
    names = options.names[-len(options.builds) :]
    rounds = {name: [] for name in names}
    passed = ["--child", "--seconds", str(options.seconds), "--dtypes", *options.dtypes]
    passed += ["--only", *options.only] if options.only else []
    for _ in range(options.rounds):
        for name, folder in zip(names, options.builds):
            run = subprocess.run(
                [sys.executable, __file__, *passed],
                env={**os.environ, "PYTHONPATH": folder, "PENSTOCK_KERNELS": "compiled"},
                stdout=subprocess.PIPE,
                text=True,
                timeout=options.seconds + 240,
            )
            if run.returncode == 0:
                rounds[name].append(json.loads(run.stdout.splitlines()[-1]))
    return table(names, rounds)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("builds", nargs="*", metavar="FOLDER")
    parser.add_argument("--names", nargs="*", default=["before", "after"])
    parser.add_argument("--rounds", type=int, help="1; of builds side by side 3")
    parser.add_argument("--seconds", type=float, default=140, help="of one process")
    parser.add_argument("--only", nargs="*", metavar="REGEX", help="rows whose name one of these matches at its start")
    parser.add_argument("--dtypes", nargs="*", default=["uint8", "float32"])
    parser.add_argument("--no-peer", dest="beside", action="store_false", help="without CV-CUDA")
    parser.add_argument("--out")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.rounds = options.rounds or (3 if options.builds else 1)
    return options


def main():
    options = parse()
    if options.child:
        options.beside, options.rounds = False, 1
        print(json.dumps(measure_all(options, lambda text: None)))
        return
    if options.builds:
        text = side_by_side(options)
        print(text)
    else:
        os.environ.setdefault("PENSTOCK_KERNELS", "compiled")
        lines = []
        found = measure_all(options, lambda line: (lines.append(line), print(line, flush=True)))
        text = "\n".join(lines) + "\n"
        if options.json:
            options.json.write_text(json.dumps({"summary": summary(found), "rows": found}, indent=1) + "\n")
    if options.out:
        Path(options.out).write_text(text)


if __name__ == "__main__":
    main()
