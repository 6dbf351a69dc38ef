# SPDX-License-Identifier: Apache-2.0
"""Writes tests/dali_arguments.json: every operator of DALI with its arguments' types and defaults.

Run with a Python that has nvidia.dali: `python tools/dump_dali_arguments.py [path]`.
"""

import ast
import inspect
import json
import os
import sys

import nvidia.dali
from nvidia.dali import Pipeline, __version__, backend, fn, ops, pipeline_def, types


def argument(schema, name):
    optional = schema.IsArgumentOptional(name)
    kind = str(schema.GetArgumentType(name)).split(".")[-1].lstrip("_").lower()
    entry = {"type": kind, "required": not optional, "tensor": schema.IsTensorArgument(name)}
    if entry["tensor"] and schema.ArgSupportsPerFrameInput(name):
        entry["per_frame"] = True
    if optional and schema.HasArgumentDefaultValue(name):
        text = schema.GetArgumentDefaultValueString(name)
        entry["default"] = value(text, kind)
    if schema.IsDeprecatedArg(name):
        entry["deprecated"] = True
    return entry


def value(text, kind):
    """The default as JSON; enumerations stay the numbers that DALI prints."""
    try:
        found = ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text
    if kind.startswith("float"):
        return [round(float(v), 6) for v in found] if isinstance(found, list) else round(float(found), 6)
    return found


def inputs(schema):
    count = [schema.MinNumInput(), schema.MaxNumInput()]
    layouts = [
        [str(getattr(layout, "_str", layout)) for layout in schema.GetSupportedLayouts(i)]
        for i in range(min(count[1], 4))
    ]
    layouts = [[text.split("'")[1] if "'" in text else text for text in row] for row in layouts]
    return {"inputs": count, "layouts": layouts}


def operator(name):
    schema = backend.GetSchema(name)
    entry = inputs(schema)
    entry["arguments"] = {a: argument(schema, a) for a in sorted(schema.GetArgumentNames())}
    if schema.IsDeprecated():
        entry["deprecated_for"] = schema.DeprecatedInFavorOf()
    return entry


def signature(thing):
    """The parameters of a Python callable: name to the text of its default, or to {"required": true}."""
    empty = inspect.Parameter.empty
    return {
        p.name: {"required": True} if p.default is empty else {"default": repr(p.default)}
        for p in inspect.signature(thing).parameters.values()
        if p.name not in ("self", "cls") and p.kind is not p.VAR_KEYWORD
    }


def class_signatures(path):
    """The same for the constructors of the classes in a file that cannot be imported here (it needs a framework)."""
    found = {}
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    for node in tree.body:
        for method in getattr(node, "body", []):
            if isinstance(node, ast.ClassDef) and getattr(method, "name", "") == "__init__":
                names = [a.arg for a in method.args.args[1:]]
                defaults = [None] * (len(names) - len(method.args.defaults)) + method.args.defaults
                found[node.name] = {
                    n: {"required": True} if d is None else {"default": ast.unparse(d)} for n, d in zip(names, defaults)
                }
    return found


def python_interfaces():
    """Pipeline and its methods, the functions that are not operators in the registry, and PyTorch's iterators."""
    found = {
        "Pipeline": signature(Pipeline.__init__),
        "pipeline_def": signature(pipeline_def),
        "types.Constant": signature(types.Constant),
        "external_source": signature(fn.external_source),
    }
    for name, method in sorted(vars(Pipeline).items()):
        function = getattr(method, "__func__", method)
        if not name.startswith("_") and inspect.isfunction(function):
            found["Pipeline." + name] = signature(function)
    plugin = os.path.join(os.path.dirname(nvidia.dali.__file__), "plugin", "pytorch", "__init__.py")
    found.update({"plugin.pytorch." + n: s for n, s in class_signatures(plugin).items() if not n.startswith("_")})
    return found


def main():
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(root, "tests", "dali_arguments.json")
    names = sorted(set(ops._registry.cpu_ops() | ops._registry.gpu_ops() | ops._registry.mixed_ops()))
    entries = {ops._names._op_name(n): operator(n) for n in names}
    for name, found in python_interfaces().items():
        entries.setdefault(name, {})["python"] = found
    entries["Pipeline"]["properties"] = sorted(n for n, v in vars(Pipeline).items() if isinstance(v, property))
    lines = [f"  {json.dumps(name)}: {json.dumps(entry)}" for name, entry in entries.items()]
    text = '{\n  "version": %s,\n' % json.dumps(__version__) + ",\n".join(lines) + "\n}\n"
    json.loads(text)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
