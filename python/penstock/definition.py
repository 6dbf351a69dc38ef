# SPDX-License-Identifier: Apache-2.0
"""What surrounds the program's function while it defines a pipeline."""
import contextlib

from .graph import _PACKAGE, pop, push


@contextlib.contextmanager
def defining(pipeline):
    """While the program's function makes nodes of the pipeline."""
    push(pipeline)
    try:
        yield
    except TypeError as error:
        if not ("DataNode" in str(error) and "itera" in str(error)):  # Python's own words where a value is taken apart
            raise
        trace, line = error.__traceback__, ""
        while trace is not None:
            if not trace.tb_frame.f_code.co_filename.startswith(_PACKAGE):
                line = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
            trace = trace.tb_next
        raise TypeError("a value of the pipeline cannot be iterated while the pipeline is defined; `for x in value` works inside of "
                        f"functions that pipeline_def converts\n  at {line}") from error
    finally:
        pop()
