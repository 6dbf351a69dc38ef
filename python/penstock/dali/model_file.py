# SPDX-License-Identifier: Apache-2.0
"""python -m penstock.dali.model_file FILE RESULT: saves the pipeline with @autoserialize of a Python file, which may be written for
DALI. Triton's backend runs it."""

import sys
import types
from pathlib import Path

from . import install


def _pipeline_of(path):
    """The pipeline of the function in the file that has @autoserialize."""
    source = Path(path).read_text()
    if "nvidia.dali" in source:
        install()
    module = types.ModuleType("penstock_model")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    exec(compile(source, str(path), "exec", dont_inherit=True), module.__dict__)
    marked = {id(v): v for v in vars(module).values() if getattr(v, "_is_autoserialize", False)}
    if len(marked) != 1:
        raise ValueError(
            f"{len(marked)} functions have @autoserialize, but a model is one pipeline: write it above @pipeline_def of one"
        )
    return next(iter(marked.values()))()


def _main(path, result):
    try:
        _pipeline_of(path).save(result)
    except Exception as error:
        lines, trace = [], error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == str(path):
                lines.append(trace.tb_lineno)
            trace = trace.tb_next
        where = f" (line {lines[-1]})" if lines else ""
        print(f"{type(error).__name__}: {error}{where}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    sys.exit(_main(*sys.argv[1:]))
