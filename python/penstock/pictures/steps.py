# SPDX-License-Identifier: Apache-2.0
"""The steps of a pipeline as a tree of items: what runs in one pass, with conditions and loops around it."""

from .. import _core

_SIGNS = {
    "_add": "+",
    "_sub": "-",
    "_mul": "*",
    "_div": "/",
    "_fdiv": "/",
    "_mod": "%",
    "_lt": "<",
    "_leq": "<=",
    "_gt": ">",
    "_geq": ">=",
    "_eq": "==",
    "_neq": "!=",
    "_where": "choose",
}
_SMALL = {"cast", "stack", "reshape", "shapes"}
_MOST_LETTERS = 34


class Item:
    """A step, or a condition or loop with the steps of its bodies.

    Args:
        kind: "step", "stage", "decode", "copy", "if", "loop", "change" or "output".
        nodes: The nodes of the graph that it runs.
        on_gpu: Whether its result is on a GPU.
        title: What stands above its rows.
        rows: (operator, arguments) of what it runs.
    """

    def __init__(self, kind, nodes, on_gpu=False, title="", rows=()):
        self.kind, self.nodes, self.on_gpu, self.title, self.rows = kind, nodes, on_gpu, title, list(rows)
        self.bodies = []  # (name, items) of a condition or loop
        self.reads, self.makes = set(), set(nodes)

    def operators(self):
        """The names of all operators of fn in it, each once, without small ones."""
        inner = (name for _, items in self.bodies for item in items for name in item.operators())
        named = set(_core.operators()) - _SMALL
        own = (op for op, _ in self.rows if op in named)
        return list(dict.fromkeys([*own, *inner]))

    def all_reads(self):
        """The nodes that it or what is in it reads, without those made in it."""
        inner = [item for _, items in self.bodies for item in items]
        reads = self.reads.union(*(item.all_reads() for item in inner))
        return reads - self.makes.union(*(item.makes for item in inner))


def cut(text, most=_MOST_LETTERS):
    return text if len(text) <= most else text[: most - 1] + "…"


def _value(value, name=""):
    if name.endswith("dtype") and isinstance(value, int):
        from .._base.element_types import DType

        return DType(value).name
    if isinstance(value, str):
        return repr(value.rsplit("/", 1)[-1])
    if isinstance(value, float):
        return f"{value:.5g}"
    if isinstance(value, list):
        some = ", ".join(_value(v) for v in value[:4])
        return f"[{some}, …]" if len(value) > 4 else f"[{some}]"
    return str(value)


def shown_name(op):
    """The name of an operator as a program writes it."""
    return _SIGNS.get(op, op)


def type_text(node, output=0):
    """ "uint8 HWC" of an output, as far as it is known."""
    from .._base.element_types import DType

    dtype, ndim, layout = (node.get("types") or [[-1, -1, ""]])[output]
    name = "" if dtype < 0 else {"FLOAT": "float32"}.get(DType(dtype).name, DType(dtype).name.lower())
    return f"{name} {layout or (f'{ndim}-d' if ndim >= 0 else '')}".strip()


def _made_by(node):
    """The name of the operator that makes a value, or the value of a constant."""
    given = node.get("constants", {})
    values = next((given[k] for k in ("fdata", "idata") if k in given), None) if node["op"] == "constant" else None
    if values is None:
        return shown_name(node["op"])
    return _value(values[0] if isinstance(values, list) and len(values) == 1 else values)


def _row(node, nodes):
    """(the operator, what is known of its arguments)"""
    constants, op = node.get("constants", {}), shown_name(node["op"])
    if node["op"] in _SIGNS:
        sides = (_value(constants[side]) if side in constants else "" for side in ("left", "right"))
        return f" {op} ".join(sides).strip(), []
    texts = [f"{k}={_value(v, k)}" for k, v in constants.items()]
    texts += [f"{k}={_made_by(nodes[ref[0]])}" for k, ref in node.get("per_sample", {}).items()]
    texts += [_made_by(nodes[ref[0]]) for ref in node.get("inputs", []) if nodes[ref[0]]["op"] == "constant"]
    return op, wrapped(texts, 3)


def wrapped(texts, most):
    """Texts in lines, at most `most` of them."""
    lines, line = [], ""
    for text in texts:
        if line and len(line) + len(text) + 1 > _MOST_LETTERS:
            lines.append(line)
            line = ""
        line = f"{line} {text}".strip()
    lines = [cut(text) for text in [*lines, line] if text]
    return [*lines[:most], "…"] if len(lines) > most else lines


def _item(step, nodes):
    """A step without bodies."""
    if step["kind"] == "transfer":
        source, _, to_gpu, reason = step["copies"]
        made = Item("copy", [], to_gpu, "copy to the GPU" if to_gpu else "copy to the CPU", [(cut(reason), [])])
        made.reads, made.makes = {source}, {("copy", source, to_gpu)}
        return made
    own = [nodes[n] for n in step["nodes"]]
    where, several = " on the GPU" if step["on_gpu"] else "", len(own) > 1
    what = "kernel" if step["on_gpu"] else "pass"
    title = f"one {what}: {len(own)} operators{where}" if several else where.strip()
    if step["kind"] == "decode":
        title = "decodes on the GPU"
    kind = "step" if step["kind"] in ("step", "control") else step["kind"]
    made = Item(kind, list(step["nodes"]), step["on_gpu"], title, [_row(node, nodes) for node in own])
    for node in own:
        made.reads |= {ref[0] for ref in [*node.get("inputs", []), *node.get("per_sample", {}).values()]}
    made.reads -= made.makes
    return made


class _Reader:
    """Reads the list of steps, in which bodies lie between the parts of their condition or loop."""

    def __init__(self, steps, nodes):
        self.steps, self.nodes, self.at = steps, nodes, 0

    def items(self, *ends):
        """The items up to a part with one of these names, which is read too; and that name."""
        made = []
        while self.at < len(self.steps):
            step = self.steps[self.at]
            self.at += 1
            part = step["text"].split(":")[0] if step["kind"] == "control" else ""
            if part in ends:
                return made, part
            if part == "if":
                made.append(self._branch(step))
            elif part == "loop":
                made.append(self._loop(step))
            elif part != "unset" and not self._is_constant(step):
                made.append(_item(step, self.nodes))
        return made, ""

    def _is_constant(self, step):
        """Constants stand in the rows of what reads them."""
        return bool(step["nodes"]) and all(self.nodes[n]["op"] == "constant" for n in step["nodes"])

    def _branch(self, step):
        node = self.nodes[step["nodes"][0]]
        made = Item("if", list(step["nodes"]), title="if " + _row(self.nodes[node["inputs"][0][0]], self.nodes)[0])
        then, end = self.items("else", "end if")
        otherwise = self.items("end if")[0] if end == "else" else []
        made.bodies = [("then", then), ("else", otherwise)]
        made.reads = {ref[0] for ref in [*node["inputs"], *node["results"]] if ref[0] >= 0}
        made.on_gpu = any(item.on_gpu for _, items in made.bodies for item in items)
        return made

    def _loop(self, step):
        node = self.nodes[step["nodes"][0]]
        made = Item("loop", list(step["nodes"]), title="for ↻" if node["counted"] else "while ↻")
        test, end = self.items("while", "repeat", "end loop")
        body = []
        if end == "while":
            body, end = self.items("repeat", "end loop")
        if end == "repeat":
            self.items("end loop")
        made.bodies = [("test", test), ("body", body)] if body else [("body", test)]
        made.reads = {ref[0] for ref in [*node["inputs"], *node["results"]] if ref[0] >= 0}
        made.on_gpu = any(item.on_gpu for _, items in made.bodies for item in items)
        return made


def items_of(steps, nodes, outputs, on_gpu):
    """The items of a pipeline: its steps, and its outputs as [node, output], each of which may be on the GPU."""
    made, _ = _Reader(steps, nodes).items()
    for k, (ref, gpu) in enumerate(zip(outputs, on_gpu)):
        item = Item("output", [], gpu, f"output {k}", [(type_text(nodes[ref[0]], ref[1]) or "any type", [])])
        item.reads = {ref[0]}
        made.append(item)
    return made


def sources_of(item, makers, copies):
    """The items among `makers` (by node) that an item reads; a copy stands between devices."""
    found = []
    for node in item.all_reads():
        copy = copies.get(("copy", node, item.on_gpu))
        if node in makers and makers[node] is not item:
            found.append(copy if copy is not None and copy is not item else makers[node])
    return list(dict.fromkeys(found))
