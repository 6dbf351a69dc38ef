# SPDX-License-Identifier: Apache-2.0
"""penstock convert: a data set in another format."""

from __future__ import annotations

import argparse
import sys

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30}


def bytes_of(text):
    """Returns the number of --shard-size.

    Args:
        text: A number, with k, M, G, Ki, Mi or Gi after it.

    Raises:
        argparse.ArgumentTypeError: It is none.
    """
    digits = text.lower().removesuffix("b").rstrip("kmgi")
    unit = text.lower().removesuffix("b")[len(digits) :]
    try:
        return int(float(digits) * _UNITS[unit])
    except (KeyError, ValueError, OverflowError):
        raise argparse.ArgumentTypeError(f"a number of bytes such as 64Mi or 1G, got {text!r}") from None


def convert(args):
    """Converts a data set to another format, or compares one that was converted with its manifest."""
    from .. import conversion  # late: the other commands do not need it

    if args.verify:
        if args.target is not None or args.to is not None:
            raise ValueError("--verify takes one folder: one that this command has written")
        found = conversion.verify(args.source, threads=args.threads, workers=args.workers)
        for finding in found:
            print(finding)
        print(f"{args.source}: {len(found)} fault{'s' * (len(found) != 1)}", file=sys.stderr)
        return 1 if found else 0
    if args.target is None or args.to is None:
        raise ValueError("give SOURCE, TARGET and --to FORMAT, or --verify and a folder")
    count = conversion.convert(
        args.source,
        args.target,
        args.to,
        format=getattr(args, "from"),
        shorter=args.shorter,
        quality=args.quality,
        shard_size=args.shard_size,
        threads=args.threads,
        workers=args.workers,
        only=args.only.split(",") if args.only is not None else None,
        image=args.image,
        label=args.label,
        images=args.images,
        check=not args.no_check,
    )
    print(f"{args.target}: {count} samples" + ("" if args.no_check else ", all compared with what was to be written"))
    return 0


def add_convert(command):
    """Adds the command.

    Args:
        command: Adds a command to the program and returns its parser.
    """
    c = command(
        convert,
        epilog="The same call continues a run that was stopped. With --verify the command ends with 1 where anything is wrong.",
    )
    c.add_argument("source", metavar="SOURCE", help="a folder, a file, a pattern with * or ?, or a URL")
    c.add_argument(
        "target", metavar="TARGET", nargs="?", help="a new folder or s3:// URL, or one that the same call has begun"
    )
    c.add_argument("--to", metavar="FORMAT", help="folder (of classes), coco, tar, tfrecord, parquet or mds")
    c.add_argument("--from", metavar="FORMAT", help="one of those or ffcv; default: by the names of the files")
    c.add_argument("--shorter", type=int, metavar="PIXELS", help="scale pictures whose shorter side is longer")
    c.add_argument("--quality", type=int, default=95, help="of JPEG files that are scaled; default 95")
    c.add_argument(
        "--shard-size", type=bytes_of, default=64 << 20, metavar="BYTES", help="of samples in a file; default 64Mi"
    )
    c.add_argument(
        "--workers", type=int, default=1, metavar="N", help="processes that convert; the files stay the same"
    )
    c.add_argument("--only", metavar="FIELD,FIELD", help="convert these fields; default: all")
    c.add_argument("--image", metavar="FIELD", help="the pictures, where the target holds one")
    c.add_argument("--label", metavar="FIELD", help="the classes, for --to folder")
    c.add_argument("--images", metavar="DIR", help="the pictures of a source in COCO's form")
    c.add_argument("--no-check", action="store_true", help="do not read at the end what was written")
    c.add_argument("--verify", action="store_true", help="compare SOURCE, which convert has written, with its manifest")
