# SPDX-License-Identifier: Apache-2.0
"""penstock show: the plan, the diagram and the first batch of the pipelines of a script."""

from __future__ import annotations

import os
import sys

from .bench import refuse_fed
from .scripts import found_in


def _flat(outputs):
    if isinstance(outputs, dict):
        outputs = tuple(outputs.values())
    if not isinstance(outputs, (tuple, list)):
        return [outputs]
    return [leaf for output in outputs for leaf in _flat(output)]


def _labels_of(outputs):
    """One integer for each sample, where an output has that."""
    for output in outputs:
        if "INT" in output.dtype.name and all(shape in ((), (1,)) for shape in output.shape()):
            return [int(sample.numpy().reshape(())) for sample in output.cpu()]
    return None


def picture_of(made, path):
    """Draws the first batch: the first output with two or more dimensions, with the numbers of another one below.

    Args:
        made: A Pipeline or a loader.
        path: The file to write.

    Raises:
        ImportError: Pillow is not installed.
        ValueError: No output can be drawn.
    """
    if hasattr(made, "show_batch"):
        return made.show_batch(path=path)
    from ..pictures import show

    refuse_fed(made)
    outputs = [o for o in _flat(made.run()) if len(o)]
    large = [o for o in outputs if len(o.shape()[0]) > 1]
    why = "it has no samples"
    for output in large or outputs:
        try:
            return show(output, path=path, labels=_labels_of(outputs) if output in large else None)
        except TypeError as error:
            why = str(error)
    raise ValueError(f"no output can be drawn: {why}")


def show_one(found, folder):
    """Prints the plan of a pipeline, and writes its diagram and its first batch.

    Args:
        found: What the script has.
        folder: Where the pictures go.
    """
    made = found.make()
    pipeline = getattr(made, "pipeline", made)
    pipeline.build()
    print(f"{found.name}: {pipeline!r}")
    print(pipeline.plan().rstrip())
    diagram, picture = (os.path.join(folder, found.name + ending) for ending in (".svg", ".png"))
    pipeline.show_graph(diagram)
    print(f"diagram: {diagram}")
    picture_of(made, picture)
    print(f"first batch: {picture}")
    pipeline.close()


def show(args):
    """Prints the plans of the pipelines that a script defines at its top level; draws each and its first batch."""
    failed = 0
    all_of_them = found_in(args.script, args.pipeline)
    os.makedirs(args.out, exist_ok=True)
    for found in all_of_them:
        try:
            show_one(found, args.out)
        except Exception as error:
            failed += 1
            print(f"penstock show: {found.name}: {type(error).__name__}: {error}", file=sys.stderr)
    return 1 if failed else 0


def add_show(command):
    """Adds the command.

    Args:
        command: Adds a command to the program and returns its parser.
    """
    c = command(show, threads=False, epilog="Writes NAME.svg, the diagram, and NAME.png, the first batch.")
    c.add_argument("script", help="a Python file")
    c.add_argument("--pipeline", metavar="NAME", help="only this one; default: all at the top level")
    c.add_argument("--out", default=".", metavar="DIR", help="folder of the pictures; default: the current one")
