# SPDX-License-Identifier: Apache-2.0
"""penstock index, verify, transcode: what can be done with image files before a pipeline reads them; penstock convert, of
data sets; penstock info and doctor; penstock bench and show, which run a script; penstock plan; penstock triton; penstock serve."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from . import _core
from ._command_line.bench import add_bench
from ._command_line.conversion import add_convert
from ._command_line.doctor import add_doctor
from ._command_line.plan import add_plan
from ._command_line.show import add_show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


__all__ = ["main"]


def endings(kind=None, name=None):
    """Suffixes of the files that are decoded here: of one kind ("picture", "sound"), of one format, or of all."""
    return tuple(e for k, n, _, of in _core.file_formats() if kind in (None, k) and name in (None, n) for e in of)


AT_ONCE = 256  # files between two checks for Ctrl-C


def files_below(path, extensions, others=None):
    """The file itself, whatever its name, or those of a folder and the folders in it, sorted; through links, as
    readers go, but not into a folder that the way leads through already. Other files are counted in the Counter
    `others`, by the endings of their names."""
    if not os.path.isdir(path):
        return [path]
    found = []

    def enter(folder, above):
        real = os.path.realpath(folder)
        if real in above:
            return
        for name in sorted(os.listdir(folder)):
            inside = os.path.join(folder, name)
            if os.path.isdir(inside):
                enter(inside, above | {real})
            elif name.lower().endswith(extensions):
                found.append(inside)
            elif others is not None:
                others[os.path.splitext(name)[1].lower() or "without an ending"] += 1

    enter(path, frozenset())
    return found


@contextlib.contextmanager
def progress(total, what):
    """A function that takes the number of files done: a bar of tqdm or rich where one is installed, on a terminal."""
    if not sys.stderr.isatty():
        yield lambda n: None
        return
    with contextlib.ExitStack() as stack:
        try:
            from tqdm import tqdm

            yield stack.enter_context(tqdm(total=total, desc=what, unit="file", leave=False)).update
            return
        except ImportError:
            pass
        try:
            from rich.progress import Progress

            bar = stack.enter_context(Progress(transient=True))
            task = bar.add_task(what, total=total)
            yield lambda n: bar.advance(task, n)
            return
        except ImportError:
            pass
        done = 0

        def count(n):
            nonlocal done
            done += n
            print(f"\r{what}: {done} of {total} files", end="" if done < total else "\n", file=sys.stderr, flush=True)

        yield count


def index(args):
    """Makes the entropy index of a data set."""
    folder = args.dataset if os.path.isdir(args.dataset) else os.path.dirname(args.dataset) or "."
    files = files_below(args.dataset, endings(name="jpeg"))
    out = args.out or ""
    if out and os.sep not in out:
        out = os.path.join(".", out)
    builder = _core.IndexBuilder(out, folder, args.step, args.threads)
    made = kept = left_out = 0
    failed = []
    with progress(len(files), "index") as advance:
        for first in range(0, len(files), AT_ONCE):
            part = files[first : first + AT_ONCE]
            m, k, n, f = builder.add(part)
            made, kept, left_out = made + m, kept + k, left_out + n
            failed += f
            advance(len(part))
    builder.finish()
    for path, why in failed:
        print(f"{path}: {why}", file=sys.stderr)
    total = sum(os.path.getsize(f) for f in files if os.path.exists(f))
    size = os.path.getsize(builder.path()) if os.path.exists(builder.path()) else 0
    share = f", {100 * size / total:.2f} % of the files" if total else ""
    print(
        f"{made} made, {kept} there already, {left_out} without (small or not baseline JPEG), {len(failed)} failed; "
        f"{builder.path()}: {size / 1e6:.1f} MB{share}"
    )
    return 1 if failed else 0


def counted(others, what):
    """ "; 3 files of other kinds ...: .txt 2, .json 1", or nothing."""
    if not others:
        return ""
    most = ", ".join(f"{ending} {n}" for ending, n in others.most_common(5)) + (", …" if len(others) > 5 else "")
    return f"; {sum(others.values())} files of other kinds {what}: {most}"


def verify(args):
    """Prints a line for each fault: file, kind, text."""
    others = Counter()
    files = [f for path in args.paths for f in files_below(path, endings(), others)]
    bad = 0
    with ThreadPoolExecutor(args.threads or None) as pool, progress(len(files), "verify") as advance:
        for path, found in zip(files, pool.map(lambda f: _core.verify_file(f, args.max_pixels), files)):
            advance(1)
            bad += bool(found)
            for kind, text in found:
                print(f"{path}: {kind}: {text}")
    print(f"{len(files)} files, {bad} with something wrong{counted(others, 'not looked at')}", file=sys.stderr)
    if not files:
        print(
            f"penstock verify: no file to look at: none has an ending of a picture or sound ({' '.join(endings())})",
            file=sys.stderr,
        )
    return 1 if bad or not files else 0


def transcode(args):
    """Progressive, arithmetic and multi-scan JPEG files to baseline, losslessly; other pictures are copied."""
    others = Counter()
    if os.path.isdir(args.source):
        pairs = [
            (f, os.path.join(args.destination, os.path.relpath(f, args.source)))
            for f in files_below(args.source, endings("picture"), others)
        ]
    elif os.path.isdir(args.destination):
        pairs = [(args.source, os.path.join(args.destination, os.path.basename(args.source)))]
    else:
        pairs = [(args.source, args.destination)]
    changed = failed = 0

    def one(pair):
        try:
            os.makedirs(os.path.dirname(pair[1]) or ".", exist_ok=True)
            return _core.transcode_file(*pair), None
        except (_core.DataError, OSError) as error:
            return False, error

    with ThreadPoolExecutor(args.threads or None) as pool, progress(len(pairs), "transcode") as advance:
        for pair, (done, error) in zip(pairs, pool.map(one, pairs)):
            advance(1)
            changed += done
            if error is not None:
                failed += 1
                print(f"{pair[0]}: {error}", file=sys.stderr)
    print(f"{len(pairs)} files, {changed} transcoded, {failed} failed{counted(others, 'left out')}")
    return 1 if failed else 0


def info(args):
    """Prints what this installation and this machine provide."""
    from . import __version__

    print(f"penstock {__version__}, {os.path.dirname(os.path.abspath(_core.__file__))}")
    why = _core.gpu_why_not()
    if why:
        print(f"no GPU: {why}")
    for device in range(_core.gpu_count()):
        print(f"GPU {device}: {_core.gpu_name(device)}")
    print(f"compiler of kernels: {_core.gpu_kernel_compiler()}")
    if not why:
        print(f"files straight to the GPU: {_core.gpu_direct_storage()}")
    return 0


def triton(args):
    """Installs the backend for Triton Inference Server."""
    from .plugin.triton import install

    folder = install(args.install)
    print(f"{folder}: the backend `penstock`; start the server with --backend-directory={folder.parent}")
    return 0


def serve(args):
    """Makes batches of a pipeline for trainers on other machines."""
    from .service.serving import run  # late: the other commands do not need it

    return run(args)


def parser():
    p = argparse.ArgumentParser(prog="penstock", description="Tools for pipelines and for the files that they read.")
    commands = p.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(run, threads=True, **options):
        c = commands.add_parser(run.__name__, description=run.__doc__, help=run.__doc__, **options)
        c.set_defaults(run=run)
        c.set_defaults(threads=0)
        if threads:
            c.add_argument("--threads", type=int, default=0, help="default: as many as the process may use")
        return c

    c = command(index)
    c.add_argument("dataset", help="a folder, with all folders in it, or a file")
    c.add_argument("--step", type=int, default=8, help="MCUs between two points; default 8")
    c.add_argument(
        "--out",
        help="file of the index, or a folder for it; default: the user's cache folder, where "
        "pipelines look by themselves",
    )
    c = command(verify, epilog="Ends with 1 where anything is wrong.")
    c.add_argument("paths", nargs="+", help="files and folders")
    c.add_argument("--max-pixels", type=int, default=178956970, help='larger pictures are "too large"')
    c = command(transcode)
    c.add_argument("--baseline", action="store_true", required=True, help="to baseline JPEG, the only form there is")
    c.add_argument("source", help="a file or folder")
    c.add_argument("destination", help="may be the source: each file is replaced in one step; links stay links")
    add_convert(command)
    command(info, threads=False)
    add_doctor(command)
    add_bench(command)
    add_show(command)
    add_plan(command)
    c = command(triton, threads=False)
    c.add_argument(
        "--install", metavar="DIR", required=True, help="the folder for backends, such as /opt/tritonserver/backends"
    )
    c = command(serve, epilog="Prints the address. Ends at SIGTERM or Ctrl-C; trainers then ask other workers.")
    c.add_argument(
        "pipeline", metavar="SCRIPT:PIPELINE", help="a file of Python and a function with @pipeline_def in it"
    )
    c.add_argument("--arguments", default="{}", metavar="JSON", help='of that function, such as \'{"root": "/data"}\'')
    c.add_argument("--host", default="127.0.0.1", help="where it listens; default: this machine alone")
    c.add_argument("--port", type=int, default=0, help="default: one that is free")
    c.add_argument("--key", metavar="FILE", help="holds the key that trainers must show; needed beyond this machine")
    c.add_argument("--certificate", metavar="FILE", help="PEM, for TLS, with its private key in it or in --private-key")
    c.add_argument("--private-key", metavar="FILE")
    c.add_argument("--keep", type=int, default=0, help="batches that stay for other trainers of the same job")
    c.add_argument("--jobs", type=int, default=4, help="unlike jobs of trainers at once; default 4")
    c.add_argument("--no-shared-memory", action="store_true", help="sockets also to trainers on this machine")
    return p


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the program `penstock`.

    Args:
        arguments: What follows the name of the program; None: those of this process.

    Returns:
        The exit status: 0, 1 where something is wrong with the files, 2 for an error.

    Example:
        main(["verify", "photos"])
    """
    args = parser().parse_args(arguments)
    if isinstance(args.threads, int) and args.threads < 0:
        parser().error("--threads must not be negative")
    try:
        return args.run(args)
    except (ValueError, OSError, ImportError, _core.DataError) as error:
        print(f"penstock {args.command}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
