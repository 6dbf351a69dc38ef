# SPDX-License-Identifier: Apache-2.0
"""Records per second of the readers of containers, beside DALI, in one run; 2 threads, files in the page cache.

    python benchmarks/containers.py [--rounds 7] [--seconds 1.5] [--data FOLDER] [--parquet | --mds | --arrow]

Writes benchmarks/results/containers.json and containers.md. Each reader runs alone in a pipeline (raw bytes and label,
batches of 128, no decoding) in a process of its own; a round measures both libraries one after the other, in turns first,
and the ratio is the median of the rounds' ratios. PENSTOCK_PENSTOCK_PYTHON and PENSTOCK_DALI_PYTHON name interpreters.
--parquet and --mds measure readers.parquet and readers.mds beside readers.tfrecord instead, because DALI reads neither,
and --arrow readers.arrow beside data[i] of Hugging Face's datasets and beside readers.file; their section of
containers.md is replaced. Hugging Face's environment: python benchmarks/environments.py install datasets.
"""

import argparse
import itertools
import json
import os
import platform
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KINDS = ["tfrecord", "lmdb", "recordio", "tar", "files"]
SETS = {"photographs": (110_000, 3000), "small records": (4_000, 40_000)}  # mean bytes, records
BATCH, THREADS = 128, 2
ROW_GROUPS = {"photographs": 100, "small records": 1000}  # rows of each
SHARDS = {"photographs": 150, "small records": 2000}  # samples of each
ABOUT = {"Parquet": "uncompressed, without dictionaries, pages of 256 KB", "MDS": "zstd on bytes that do not compress"}
SECTIONS = {
    "Parquet": "## Parquet beside TFRecord",
    "MDS": "## MDS beside TFRecord",
    "Arrow": "## Arrow beside Hugging Face's datasets and files",
}


def payloads_of(bytes_each, count):
    """Records, cut from one block of random bytes."""
    import random

    import numpy as np

    rng = np.random.default_rng(1)
    block = rng.integers(0, 256, 4 * bytes_each, np.uint8).tobytes()
    pick = random.Random(1)
    payloads = []
    for _ in range(count):
        length = max(64, int(bytes_each * pick.uniform(0.4, 1.6)))
        start = pick.randrange(len(block) - length)
        payloads.append(block[start : start + length])
    return payloads


def write_data(folder, bytes_each, count):
    import lmdb
    import numpy as np

    sys.path.insert(0, str(ROOT / "tests"))
    import container_files as files

    try:  # else a minute or two of Python
        import google_crc32c

        files.crc32c = google_crc32c.value
    except ImportError:
        pass
    payloads = payloads_of(bytes_each, count)
    folder.mkdir(parents=True, exist_ok=True)
    files.write_tfrecord(
        folder / "a.tfrecord",
        (files.example({"image": p, "label": np.array([k % 1000])}) for k, p in enumerate(payloads)),
        folder / "a.tfrecord.idx",
    )
    files.write_recordio(folder / "a.rec", folder / "a.idx", ((k % 1000, p) for k, p in enumerate(payloads)))
    files.write_tar(
        folder / "a.tar",
        (
            (f"{k:06d}.{e}", d)
            for k, p in enumerate(payloads)
            for e, d in (("jpg", p), ("cls", np.int32(k % 1000).tobytes()))
        ),
        index=folder / "a.tar.idx",
    )
    write_parquet(folder, payloads)
    write_arrow(folder / "a.arrow", payloads)
    write_mds(folder, payloads)
    with lmdb.open(str(folder / "lmdb"), map_size=1 << 33) as database, database.begin(write=True) as transaction:
        for k, p in enumerate(payloads):
            transaction.put(b"%08d" % k, files.caffe_datum(p, k % 1000))
    for path in sorted(
        folder.glob("a.*")
    ):  # in one piece, as a download or a copy leaves it: the page cache keeps large pieces then
        content = path.read_bytes()
        path.unlink()
        path.write_bytes(content)
    for k, p in enumerate(payloads):
        path = folder / "files" / f"{k % 10:02d}" / f"{k:06d}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(p)


def write_parquet(folder, payloads):
    import pyarrow
    from pyarrow import parquet

    labels = pyarrow.array([k % 1000 for k in range(len(payloads))], "int64")
    table = pyarrow.table({"image": pyarrow.array(payloads, "binary"), "label": labels})
    rows = ROW_GROUPS[folder.name.replace("_", " ")]
    path = str(folder / "a.parquet")
    options = {"compression": "none", "use_dictionary": False, "data_page_size": 256 << 10}  # as `penstock convert`
    parquet.write_table(table, path, row_group_size=rows, **options)


def write_arrow(path, payloads):
    """A file as Hugging Face's datasets keep pictures: a stream of record batches, a picture is a struct."""
    import pyarrow

    batch = ROW_GROUPS[path.parent.name.replace("_", " ")]
    kind = pyarrow.struct({"bytes": pyarrow.binary(), "path": pyarrow.string()})
    schema = pyarrow.schema({"image": kind, "label": pyarrow.int64()})
    with pyarrow.ipc.new_stream(str(path), schema) as writer:
        for k in range(0, len(payloads), batch):
            images = [{"bytes": p, "path": None} for p in payloads[k : k + batch]]
            labels = [(k + i) % 1000 for i in range(len(images))]
            writer.write_batch(pyarrow.record_batch([pyarrow.array(images, kind), labels], schema=schema))


def write_mds(folder, payloads):
    """Shards as they are, and compressed by zstd: that would find the records' common parts, so their bytes are others."""
    import mds_files
    import numpy as np

    each, rng = SHARDS[folder.name.replace("_", " ")], np.random.default_rng(2)
    for name, packing in (("mds", (None, None)), ("mds_zstd", ("zstd:3", mds_files.zstd))):
        (folder / name).mkdir()
        samples = [{"image": rng.bytes(len(p)) if packing[0] else p, "label": k % 1000} for k, p in enumerate(payloads)]
        shards = [samples[k : k + each] for k in range(0, len(samples), each)]
        mds_files.write(folder / name, {"image": "jpeg", "label": "int"}, shards, *packing, hashes=False)


def pipeline(library, kind, folder, shuffle):
    if library == "dali":
        from nvidia.dali import Pipeline, fn, tfrecord
    else:
        from penstock import Pipeline, fn, tfrecord
    pipe = Pipeline(batch_size=BATCH, num_threads=THREADS, device_id=None, prefetch_queue_depth=2, seed=1)
    more = {"random_shuffle": shuffle, "name": "r"}
    with pipe:
        if kind == "tfrecord":
            out = fn.readers.tfrecord(
                path=[f"{folder}/a.tfrecord"],
                index_path=[f"{folder}/a.tfrecord.idx"],
                features={
                    "image": tfrecord.FixedLenFeature((), tfrecord.string, ""),
                    "label": tfrecord.FixedLenFeature([1], tfrecord.int64, -1),
                },
                **more,
            )
            out = (out["image"], out["label"])
        elif kind == "parquet":
            out = fn.readers.parquet(f"{folder}/a.parquet", columns=["image", "label"], **more)
        elif kind == "arrow":
            out = fn.readers.arrow(f"{folder}/a.arrow", columns=["image", "label"], **more)
        elif kind == "table":
            import pyarrow

            table = pyarrow.ipc.open_stream(pyarrow.memory_map(f"{folder}/a.arrow")).read_all()
            out = fn.readers.arrow(table, columns=["image", "label"], **more)
        elif kind.startswith("mds"):
            out = fn.readers.mds(path=f"{folder}/{kind}", columns=["image", "label"], **more)
        elif kind == "lmdb":
            out = fn.readers.caffe(path=f"{folder}/lmdb", **more)
        elif kind == "recordio":
            out = fn.readers.mxnet(path=f"{folder}/a.rec", index_path=f"{folder}/a.idx", **more)
        elif kind == "tar":
            out = fn.readers.webdataset(
                paths=f"{folder}/a.tar", index_paths=f"{folder}/a.tar.idx", ext=["jpg", "cls"], **more
            )
        else:
            out = fn.readers.file(file_root=f"{folder}/files", **more)
        pipe.set_outputs(*out)
    pipe.build()
    return pipe


def rows_of_datasets(folder, shuffle):
    """A function that takes as many rows as a batch has, one after another, and the number of rows."""
    import datasets
    import numpy as np

    data = datasets.Dataset.from_file(f"{folder}/a.arrow")
    order = np.random.default_rng(1).permutation(len(data)) if shuffle else np.arange(len(data))
    following = itertools.cycle(order.tolist())
    return lambda: [data[k] for k in itertools.islice(following, BATCH)], len(data)


def measure(library, kind, folder, seconds, shuffle):
    """Runs in the library's interpreter: one line of JSON for each request on the standard input."""
    if library == "datasets":
        run, size = rows_of_datasets(folder, shuffle)
    else:
        pipe = pipeline(library, kind, folder, shuffle)
        run, size = pipe.run, next(iter(pipe.reader_meta().values()))["epoch_size"]
    for _ in range(size // BATCH + 4):  # everything is in the page cache and in its place
        run()
    print("ready", flush=True)
    for _ in sys.stdin:
        begin, cpu = time.perf_counter(), time.process_time()
        batches = 0
        while time.perf_counter() - begin < seconds:
            run()
            batches += 1
        print(
            batches * BATCH / (time.perf_counter() - begin), batches * BATCH / (time.process_time() - cpu), flush=True
        )


def start(library, *arguments):
    sys.path.insert(0, str(ROOT / "benchmarks"))
    from environments import python_of

    python = python_of(library)
    if python is None:
        raise SystemExit(f"no environment for {library}: see benchmarks/environments.py")
    child = subprocess.Popen(
        [python, __file__, "measure", library, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    while (line := child.stdout.readline()) and line != "ready\n":
        pass
    if not line:
        raise SystemExit(f"{library} failed: {arguments}")
    return child


def ask(child):
    child.stdin.write("\n")
    child.stdin.flush()
    return [float(word) for word in child.stdout.readline().split()]


def compare(kind, folder, options, shuffle):
    return in_turns(
        {library: start(library, kind, folder, options.seconds, int(shuffle)) for library in ("penstock", "dali")},
        options.rounds,
    )


def in_turns(children, rounds):
    """Medians of processes, and the ratio of the first one to the second."""
    one, other = children
    rates = {library: [] for library in children}
    for k in range(rounds):
        for library in sorted(children, reverse=bool(k % 2)):
            rates[library].append(ask(children[library]))
    for child in children.values():
        child.stdin.close()
        child.wait()
    result = {}
    for k, what in enumerate(("second", "cpu_second")):  # the latter tells more where others use the machine, too
        ratios = [p[k] / d[k] for p, d in zip(rates[one], rates[other])]
        result[what] = {
            **{library: statistics.median(r[k] for r in rates[library]) for library in rates},
            "ratio": statistics.median(ratios),
            "ratios": [min(ratios), max(ratios)],
        }
    return {**result, "rates": rates}


def beside_tfrecord(name_of_format, kinds_of_format, root, options):
    """The section of containers.md about Parquet or MDS."""
    lines = [
        SECTIONS[name_of_format],
        "",
        f"Raw bytes and label, {THREADS} threads, batches of {BATCH}, {os.cpu_count()} cores; {ABOUT[name_of_format]}. "
        f"Median of {options.rounds} rounds of {options.seconds} s, in turns; a ratio is the median of the rounds' ratios, least and "
        f"greatest in brackets. TFRecord's checksums are compared; {name_of_format} has none here. Made by "
        f"`python benchmarks/containers.py --{name_of_format.lower()}`.",
        "",
        f"| data | order | load | {name_of_format}, records/s | TFRecord | ratio | {name_of_format}, records/CPU s | TFRecord | ratio |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, (bytes_each, count) in SETS.items():
        folder = root / name.replace(" ", "_")
        if not folder.exists():
            write_data(folder, bytes_each, count)
        for (kind, about), shuffle in itertools.product(kinds_of_format.items(), (False, True)):
            kinds = {k: start("penstock", k, folder, options.seconds, int(shuffle)) for k in (kind, "tfrecord")}
            r = in_turns(kinds, options.rounds)
            cells = [
                f"{r[w][kind]:,.0f} | {r[w]['tfrecord']:,.0f} | {r[w]['ratio']:.2f} ({r[w]['ratios'][0]:.2f} to "
                f"{r[w]['ratios'][1]:.2f})"
                for w in ("second", "cpu_second")
            ]
            order = "shuffled" if shuffle else "in order"
            lines.append(f"| {name}, {about[name]} | {order} | {os.getloadavg()[0]:.1f} | {cells[0]} | {cells[1]} |")
            print(lines[-1], flush=True)
    return "\n".join([*lines, ""])


def arrow_beside_others(root, options):
    """The section of containers.md about Arrow."""
    lines = [
        SECTIONS["Arrow"],
        "",
        f"Raw bytes and label, {THREADS} threads, batches of {BATCH}, {os.cpu_count()} cores. `data[i]` is that of Hugging Face's datasets, of the same "
        "file, which gives the bytes and the label too; files are `readers.file` of the same bytes in the page cache. A table is the file mapped to "
        "memory, as `data` has it: its values go on without a copy, so nothing has touched their bytes yet. Median of "
        f"{options.rounds} rounds of {options.seconds} s, in turns; a ratio is the median of the rounds' ratios, least and greatest in brackets. "
        "Made by `python benchmarks/containers.py --arrow`.",
        "",
        "| data | of | order | load | Arrow, records/s | `data[i]` | ratio | of records/CPU s | files | ratio | of records/CPU s |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, (bytes_each, count) in SETS.items():
        folder = root / name.replace(" ", "_")
        if not folder.exists():
            write_data(folder, bytes_each, count)
        if not (folder / "a.arrow").exists():
            write_arrow(folder / "a.arrow", payloads_of(bytes_each, count))
        for kind, shuffle in itertools.product(("table", "arrow"), (False, True)):
            arguments = (folder, options.seconds, int(shuffle))
            r = {
                other: in_turns(
                    {kind: start("penstock", kind, *arguments), other: start(library, other, *arguments)},
                    options.rounds,
                )
                for other, library in (("datasets", "datasets"), ("files", "penstock"))
            }
            ratios = {
                (
                    other,
                    what,
                ): f"{r[other][what]['ratio']:.2f} ({r[other][what]['ratios'][0]:.2f} to {r[other][what]['ratios'][1]:.2f})"
                for other, what in itertools.product(r, ("second", "cpu_second"))
            }
            lines.append(
                f"| {name}, record batches of {ROW_GROUPS[name]} | {'table' if kind == 'table' else 'file'} | {'shuffled' if shuffle else 'in order'} | {os.getloadavg()[0]:.1f} | "
                f"{r['files']['second'][kind]:,.0f} | {r['datasets']['second']['datasets']:,.0f} | {ratios['datasets', 'second']} | {ratios['datasets', 'cpu_second']} | "
                f"{r['files']['second']['files']:,.0f} | {ratios['files', 'second']} | {ratios['files', 'cpu_second']} |"
            )
            print(lines[-1], flush=True)
    return "\n".join([*lines, ""])


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the data take 4 GB: a run that is ended deletes them too
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1.5)
    parser.add_argument("--data")
    parser.add_argument("--parquet", action="store_true")
    parser.add_argument("--mds", action="store_true")
    parser.add_argument("--arrow", action="store_true")
    options = parser.parse_args()
    if options.data:
        return run(Path(options.data), options)
    with tempfile.TemporaryDirectory(prefix="penstock_containers_") as folder:
        run(Path(folder), options)


def run(root, options):
    page = ROOT / "benchmarks" / "results" / "containers.md"
    sections = dict.fromkeys(["", *SECTIONS], "")  # of the page, by their format
    of_title = {title: name for name, title in SECTIONS.items()}
    now = ""
    for line in page.read_text().splitlines(keepends=True):
        now = of_title.get(line.strip(), now)
        sections[now] += line
    rows = {name: f"row groups of {n}" for name, n in ROW_GROUPS.items()}
    shards = {name: f"shards of {n}" for name, n in SHARDS.items()}
    packed = {name: f"{words}, zstd" for name, words in shards.items()}
    if options.parquet:
        sections["Parquet"] = beside_tfrecord("Parquet", {"parquet": rows}, root, options)
    if options.mds:
        sections["MDS"] = beside_tfrecord("MDS", {"mds": shards, "mds_zstd": packed}, root, options)
    if options.arrow:
        sections["Arrow"] = arrow_beside_others(root, options)
    if options.parquet or options.mds or options.arrow:
        page.write_text("\n\n".join(s.strip("\n") for s in sections.values() if s) + "\n")
        return
    results = {}
    for name, (bytes_each, count) in SETS.items():
        folder = root / name.replace(" ", "_")
        if not folder.exists():
            write_data(folder, bytes_each, count)
        for kind in KINDS:
            for shuffle in (False, True):
                r = compare(kind, folder, options, shuffle)
                results.setdefault(name, {}).setdefault(kind, {})["shuffled" if shuffle else "in order"] = r
                print(
                    name,
                    kind,
                    "shuffled" if shuffle else "in order",
                    *(
                        f"a {what}: Penstock {r[what]['penstock']:,.0f}, DALI {r[what]['dali']:,.0f}, {r[what]['ratio']:.2f} x"
                        for what in ("second", "cpu_second")
                    ),
                    sep="; ",
                    flush=True,
                )
    cpu = next(
        (line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")),
        platform.machine(),
    )
    facts = {
        "cpu": cpu,
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "threads": THREADS,
        "batch": BATCH,
        "rounds": options.rounds,
        "seconds": options.seconds,
        "sets": SETS,
    }
    target = ROOT / "benchmarks" / "results"
    (target / "containers.json").write_text(json.dumps({"facts": facts, "results": results}, indent=1) + "\n")
    lines = [
        "# Readers of containers, beside DALI 2.4",
        "",
        f"{cpu}, {os.cpu_count()} cores, load {facts['load']:.1f} at the end; {THREADS} threads, batches of {BATCH}, files in the "
        f"page cache. Median of {options.rounds} rounds of {options.seconds} s; a ratio is the median of the rounds' ratios, "
        "least and greatest in brackets. Records per second are what a quiet machine is measured by; records per second of "
        "CPU time hold where other programs run beside. Made by `python benchmarks/containers.py`.",
        "",
    ]
    for name, kinds in results.items():
        bytes_each, count = SETS[name]
        lines += [
            f"## {name}: {count:,} of {bytes_each / 1000:.0f} KB on average",
            "",
            "| container | order | Penstock, records/s | DALI | ratio | Penstock, records/CPU s | DALI | ratio |",
            "|---|---|---|---|---|---|---|---|",
        ]
        for kind, orders in kinds.items():
            for order, r in orders.items():
                cells = [
                    f"{r[w]['penstock']:,.0f} | {r[w]['dali']:,.0f} | {r[w]['ratio']:.2f} ({r[w]['ratios'][0]:.2f} to "
                    f"{r[w]['ratios'][1]:.2f})"
                    for w in ("second", "cpu_second")
                ]
                lines.append(f"| {kind} | {order} | {cells[0]} | {cells[1]} |")
        lines.append("")
    sections[""] = "\n".join(lines)
    page.write_text("\n\n".join(s.strip("\n") for s in sections.values() if s) + "\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["measure"]:
        measure(sys.argv[2], sys.argv[3], sys.argv[4], float(sys.argv[5]), sys.argv[6] == "1")
    else:
        main()
