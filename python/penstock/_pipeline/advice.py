# SPDX-License-Identifier: Apache-2.0
"""What to change where the loop waits: a sentence for each kind of bottleneck, with the line of the program."""

from __future__ import annotations

from . import script_lines


class Script:
    """The lines of the program that a pipeline comes from.

    Args:
        made_at: Where Pipeline or what pipeline_def made was called, "file.py:12".
        decorated_at: Where the decorator of its function is; "": there is none.
        options: The arguments of Pipeline.
    """

    def __init__(self, made_at, decorated_at, options):
        self.places = [place for place in (made_at, decorated_at) if place]
        self.options = options

    def option(self, name, new):
        """The change of an argument of Pipeline."""
        return script_lines.find(self.places, name, new)

    def of_stage(self, stage, name, new, function=None):
        """The change of an argument of an operator."""
        line = stage["line"]
        return script_lines.find([line] if line else [], name, new, function)


def _last_name(stage):
    return stage["name"].split(" + ")[-1].split(" by ")[0].rpartition(".")[2]


def _first_name(stage):
    return stage["name"].split(" + ")[0].split(" by ")[0]


def _files(stage):
    return [slow["source"] for slow in stage["slowest"] if slow["source"]]


def _none(numbers, stage, script):
    return "Nothing to change in the pipeline: the step of the loop is the slow part.", []


def _more_threads(numbers, script, most):
    now = numbers["threads"]
    return [script.option("num_threads", most)] if now < most else []


def _source(numbers, stage, script):
    if stage.get("fed"):
        return (
            "The program feeds this source: feed batches before the loop needs them, or give the source a callable",
            [],
        )
    changes = [script.of_stage(stage, "parallel", "True", "external_source")]
    cores = max(2, numbers["cores"])
    if (script.options.get("py_num_workers") or 1) < cores:
        changes.append(script.option("py_num_workers", cores))
    return (
        "Let worker processes call the source (a callable of the number or of a SampleInfo), or return whole batches and do "
        "the work in operators",
        changes,
    )


def _function(numbers, stage, script):
    name = _last_name(stage)
    workers = max(2, numbers["cores"])
    changes = [script.of_stage(stage, "num_workers", workers, name), script.of_stage(stage, "processes", "True", name)]
    return "Call the function in worker processes, or write it as operators or with fn.numba_function", changes


class _AtTheTop(script_lines.Change):
    """A call that a script makes first."""

    def __init__(self, function, arguments):
        super().__init__("", function, None, arguments)

    def __str__(self):
        return f"add `{self.argument}({self.new})` at the top of the script"


def _lock(numbers, stage, script):
    text = "Do the work of the other Python threads in a process (multiprocessing), or let them give the lock up sooner"
    return text, [_AtTheTop("sys.setswitchinterval", "0.0005")]


def _waiting_threads(numbers):
    return max(8, 4 * numbers["cores"], 2 * numbers["threads"])


def _network(numbers, stage, script):
    from .. import storage  # late: few pipelines read from a network

    text = "Request more objects at the same time, and keep what came: penstock.storage.configure(cache=..., cache_limit=...)"
    return text, [_AtTheTop("penstock.storage.configure", f"connections={4 * storage.connections()}")]


def _disk(numbers, stage, script):
    return (
        "Let more threads wait for the disk at the same time, or copy the data to a faster one",
        [script.option("num_threads", _waiting_threads(numbers))],
    )


def _small_reads(numbers, stage, script):
    return (
        "Put the files into one container (tar for fn.readers.webdataset, TFRecord, RecordIO): one open instead of "
        f"{stage['reads']}",
        [],
    )


def _reads(numbers, stage, script):
    return "Store smaller files, or put them on faster storage", _more_threads(numbers, script, numbers["cores"])


def _slow_samples(numbers, stage, script):
    files = _files(stage)
    name = f" {script_lines.short(files[0])}" if files else ""
    return (
        f"Store the file{name} smaller and baseline (`penstock transcode --baseline` where it is progressive), or let other "
        "samples pass it",
        [script.option("late", '"swap"')],
    )


def _threads(numbers, stage, script):
    return "Use all cores", [script.option("num_threads", numbers["cores"])]


def _memory(numbers, stage, script):
    return (
        "Make fewer bytes: give the loop uint8 and convert where the data are used, or resize before the conversion",
        [script.of_stage(stage, "dtype", "types.UINT8", _last_name(stage))],
    )


def _decoding(numbers, stage, script):
    changes = []
    if _first_name(stage).rpartition(".")[2] == "image" and "resize" in stage["name"]:
        at = dict(stage, line=stage["first_line"])
        changes.append(script.of_stage(at, "decode", '"fast"', "image"))
    index = numbers["entropy_index"]
    text = "Decode less: store the pictures at the size that is used"
    if changes:
        text = "Decode at a smaller size where a resize follows (other pixels), or store the pictures at the size that is used"
    if not index["path"] and not changes:
        text += ", and let the entropy index skip what a crop does not need"
    return text, changes + _more_threads(numbers, script, numbers["cores"])


def _pixels(numbers, stage, script):
    return (
        f"The work is in the operators of {stage['name']}: resize before them, or keep uint8",
        _more_threads(numbers, script, numbers["cores"]),
    )


_KINDS = {
    "none": _none,
    "source": _source,
    "function": _function,
    "lock": _lock,
    "network": _network,
    "disk": _disk,
    "small_reads": _small_reads,
    "reads": _reads,
    "slow_samples": _slow_samples,
    "threads": _threads,
    "memory": _memory,
    "decoding": _decoding,
    "pixels": _pixels,
    "step": _pixels,
}


def advise(numbers, script):
    """What to change.

    Args:
        numbers: What the pipeline counted.
        script: A Script.

    Returns:
        (a sentence with the lines to change, the changes).
    """
    kind = numbers.get("bottleneck", "unknown")
    if kind not in _KINDS:
        return "", []
    place = numbers["bottleneck_stage"]
    stage = numbers["stages"][place] if place >= 0 else None
    text, changes = _KINDS[kind](numbers, stage, script)
    lines = "; ".join(map(str, changes))
    return text.rstrip(".") + (f": {lines}." if lines else "."), changes
