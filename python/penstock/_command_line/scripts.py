# SPDX-License-Identifier: Apache-2.0
"""The pipelines and loaders that a script defines at its top level."""

from __future__ import annotations

import inspect
import os
import runpy
import sys
import traceback

_NAME = "__penstock_script__"  # not __main__: what a script guards with that does not run


class Found:
    """A pipeline or a loader of a script.

    Args:
        name: The name in the script.
        kind: "function" of pipeline_def, "pipeline" or "loader".
        value: What has the name.
    """

    def __init__(self, name, kind, value):
        self.name, self.kind, self.value = name, kind, value

    def make(self, threads=None):
        """Returns a Pipeline of its own where the script has a function; else what the script has made.

        Args:
            threads: The number of threads; None: as the script says.

        Raises:
            ValueError: The function needs arguments, or the threads run already.
        """
        if self.kind == "loader" and threads:
            raise ValueError(
                f"--threads cannot change '{self.name}': a loader has started its threads; say num_threads there"
            )
        if self.kind == "pipeline" and threads:
            if self.value.definition.built:
                raise ValueError(f"--threads cannot change '{self.name}': the script has run it already")
            self.value.definition.options["num_threads"] = threads
        if self.kind != "function":
            return self.value
        needed = needed_arguments(self.value)
        if needed:
            raise ValueError(
                f"{self.name}() needs {' and '.join(repr(n) for n in needed)}: give defaults, or write a line such as "
                f"`pipe = {self.name}({', '.join(n + '=...' for n in needed)})` at the top level of the script"
            )
        return self.value(**({"num_threads": threads} if threads else {}))


def needed_arguments(function):
    """Returns the names of a function's arguments that have no defaults.

    Args:
        function: What pipeline_def made.
    """
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [p.name for p in inspect.signature(function).parameters.values() if p.default is p.empty and p.kind in kinds]


def variables_of(script):
    """Returns the variables of a script after it has run.

    Args:
        script: The file.

    Raises:
        ValueError: It is not a script, or it ends with an error; the text has the error and the line.
    """
    if not os.path.isfile(script):
        raise ValueError(f"{script}: there is no such file")
    folder = os.path.dirname(os.path.abspath(script))
    before, arguments = list(sys.path), sys.argv
    sys.path.insert(0, folder)
    sys.argv = [script]
    try:
        return runpy.run_path(script, run_name=_NAME)
    except SystemExit as error:
        raise ValueError(
            f"{script}: it ended with sys.exit({error.code!r}) before its pipelines could be taken: put what runs "
            'under `if __name__ == "__main__":`'
        ) from error
    except Exception as error:
        raise ValueError(f"{script}: {_where(error, script)}{type(error).__name__}: {error}") from error
    finally:
        sys.path, sys.argv = before, arguments


def _where(error, script):
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == script]
    return f"line {lines[-1]}: " if lines else ""


def _kind(value):
    from .._pipeline import Pipeline

    if isinstance(value, Pipeline):
        return "pipeline"
    if getattr(value, "_is_pipeline_def", False):
        return "function"
    made = sys.modules.get("penstock.torch.loader")
    return "loader" if made is not None and isinstance(value, made.DataLoader) else None


def found_in(script, name=None):
    """Returns the pipelines and loaders of a script, in the order in which it defines them.

    A pipeline that a loader reads is left out, and so are functions that need arguments, where there is anything else.

    Args:
        script: The file.
        name: Only the one of this name.

    Raises:
        ValueError: There is none.
    """
    return chosen([Found(n, _kind(v), v) for n, v in variables_of(script).items() if _kind(v)], script, name)


def chosen(all_of_them, script, name):
    """Returns those that a command looks at.

    Args:
        all_of_them: What the script has.
        script: The file, for messages.
        name: A name, or None.

    Raises:
        ValueError: There is none.
    """
    if not all_of_them:
        raise ValueError(
            f"{script} has no pipeline at its top level: a function with @pipeline_def, a Pipeline or a loader; what a "
            "function returns must have a name there, such as `pipe = make_pipeline()`"
        )
    if name is not None:
        named = [f for f in all_of_them if f.name == name]
        if not named:
            raise ValueError(f"{script} has no pipeline '{name}'; it has {', '.join(f.name for f in all_of_them)}")
        return named
    read = {id(f.value.pipeline) for f in all_of_them if f.kind == "loader"}
    first = {id(f.value): f for f in reversed(all_of_them)}  # a second name of the same is left out
    left = [f for f in all_of_them if first[id(f.value)] is f and id(f.value) not in read]
    ready = [f for f in left if f.kind != "function" or not needed_arguments(f.value)]
    return ready or left
