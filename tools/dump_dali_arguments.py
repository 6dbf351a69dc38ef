# SPDX-License-Identifier: Apache-2.0
"""Writes tests/dali_arguments.json: every operator of DALI with its arguments' types and defaults.

Run with a Python that has nvidia.dali: `python tools/dump_dali_arguments.py [path]`.
"""
import ast
import inspect
import json
import os
import sys

from nvidia.dali import Pipeline, __version__, backend, fn, ops


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
    layouts = [[str(getattr(layout, "_str", layout)) for layout in schema.GetSupportedLayouts(i)]
               for i in range(min(count[1], 4))]
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
    """The parameters of a Python callable: name to default, required ones to null with "required"."""
    empty = inspect.Parameter.empty
    return {p.name: {"required": True} if p.default is empty else {"default": repr(p.default)}
            for p in inspect.signature(thing).parameters.values() if p.name != "self"}


def main():
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(root, "tests", "dali_arguments.json")
    names = sorted(set(ops._registry.cpu_ops() | ops._registry.gpu_ops() | ops._registry.mixed_ops()))
    lines = [f"  {json.dumps(ops._names._op_name(n))}: {json.dumps(operator(n))}" for n in names]
    python = {"Pipeline": Pipeline.__init__, "external_source": fn.external_source}
    lines += [f"  {json.dumps(n)}: {json.dumps({'python': signature(f)})}" for n, f in python.items()]
    text = '{\n  "version": %s,\n' % json.dumps(__version__) + ",\n".join(lines) + "\n}\n"
    json.loads(text)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
