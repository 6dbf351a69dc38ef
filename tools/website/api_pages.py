# SPDX-License-Identifier: Apache-2.0
"""Pages of the Python interface, from the docstrings of the installed package. tests/test_docstrings.py runs their examples."""

import importlib
import inspect
import re

import docstrings
import gallery

PAGES = {  # page: (title, names)
    "pipeline": ("Pipeline", ["penstock.pipeline_def", "penstock.Pipeline", "penstock.DataNode"]),
    "data_loader": ("DataLoader", ["penstock.torch.DataLoader"]),
    "loaders": (
        "Loaders of one line",
        ["penstock.image_folder", "penstock.detection", "penstock.segmentation", "penstock.speech"],
    ),
    "batch": ("Batch and Tensor", ["penstock.batch", "penstock.tensor", "penstock.Batch", "penstock.Tensor"]),
    "sample": ("Sample", ["penstock.Sample"]),
    "types": ("Types", ["penstock.types"]),
    "function": ("Function", ["penstock._function", "penstock.Function"]),
    "annotations": ("Tables of annotations", ["penstock.annotations"]),
    "augment": ("Augmentations", ["penstock.augment"]),
    "pictures": ("Pictures", ["penstock.pictures"]),
    "math": ("Mathematics", ["penstock.math"]),
    "errors": ("Errors", ["penstock.DataError", "penstock.FunctionError", "penstock.WorkerError"]),
    "tfrecord": ("Features of TFRecord", ["penstock.tfrecord"]),
}
SECTION = re.compile(r"^(Args|Returns|Raises|Example):$")


def found(name):
    """The module, class or function of a dotted name."""
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:cut]))
        except ImportError:
            continue
        for part in parts[cut:]:
            value = getattr(value, part)
        return value
    raise ImportError(name)


def entries(lines):
    """`name: text` of indented lines, as a list; a line that is indented further goes on."""
    made = []
    for line in lines:
        if line.startswith(" ") and made:
            made[-1] += " " + line.strip()
        elif line.strip():
            name, colon, text = line.strip().partition(": ")
            made.append(f"- `{name}`{colon}{plain(text)}" if colon else f"- {plain(line.strip())}")
    return made


def plain(text):
    """Text that Markdown shows as it is."""
    return re.sub(r"(?<!`)([*<])(?!`)", lambda m: "&lt;" if m[1] == "<" else "\\" + m[1], text)


def described(text):
    """A docstring as Markdown."""
    lines = inspect.cleandoc(text or "").splitlines()
    while lines and re.match(r"\w*\(.*\)( -> .*)?$", lines[0]):  # functions of the extension begin with their signature
        lines = lines[1:]
    about, sections, name = [], {}, None
    for line in lines:
        if SECTION.match(line):
            name = line[:-1]
            sections[name] = []
        elif name and (not line or line[0].isspace()):
            sections[name].append(line[4:])
        else:
            about.append(plain(line))
    made = ["\n".join(about).strip(), ""]
    if "Args" in sections:
        made += ["**Arguments**", "", *entries(sections["Args"]), ""]
    for part in ("Returns", "Raises"):
        if part in sections:
            text = sections[part]
            made += [f"**{part}**", "", *(entries(text) if part == "Raises" else [plain(" ".join(text).strip())]), ""]
    if "Example" in sections:
        made += ["```python", *"\n".join(sections["Example"]).strip().splitlines(), "```", ""]
    return made


def signature(value):
    try:
        shown = inspect.signature(value)
    except (ValueError, TypeError):
        return "()"
    free = [p.replace(annotation=inspect.Parameter.empty) for p in shown.parameters.values() if p.name != "self"]
    return str(shown.replace(parameters=free, return_annotation=inspect.Signature.empty))


def members(value):
    for name, member in inspect.getmembers(value):
        if not name.startswith("_") and (callable(member) or isinstance(member, property)) and member.__doc__:
            yield name, member


def section(name, value, level):
    """The heading and the text of a class, function or property."""
    call = signature(value) if callable(value) else ""
    shown = ["```python", f"{name}{call}", "```", ""] if call not in ("", "()") and len(call) < 400 else []
    lines = [f"{'#' * level} {name.rpartition('.')[2]}", "", *shown, *described(value.__doc__)]
    if inspect.isclass(value):
        for member, found_there in members(value):
            if not inspect.isclass(found_there):
                lines += section(member, found_there, level + 1)
    return lines


def of_module(name, module):
    lines = described(module.__doc__)
    for member in getattr(module, "__all__", None) or sorted(n for n in vars(module) if not n.startswith("_")):
        value = getattr(module, member)
        if callable(value) and getattr(value, "__module__", "").startswith("penstock") and value.__doc__:
            lines += section(f"{name}.{member}", value, 2)
    return lines


def readers():
    """A page of what begins a pipeline, each with its example. tests/test_reader_examples.py runs them."""
    lines = ["# Readers", "", "What begins a pipeline. The arguments are on the page of each.", ""]
    for name in gallery.families()["readers"]:
        about = docstrings.parts(gallery.operator(name).__doc__)[0]
        lines += [f"## fn.{name}", "", f"{about} [Arguments](../reference/operators/{name}.md).", ""]
        lines += ["```python", *gallery.example(name).splitlines(), "```", ""]
    return "\n".join(lines)


def pages():
    """{path: text}"""
    made = {}
    for page, (title, names) in PAGES.items():
        lines = [f"# {title}", ""]
        for name in names:
            value = found(name)
            lines += of_module(name, value) if inspect.ismodule(value) else section(name, value, 2)
        made[f"api/{page}.md"] = "\n".join(lines)
    return {**made, "api/readers.md": readers()}
