# SPDX-License-Identifier: Apache-2.0
"""Which module of python/penstock imports which, for the rules that tools/lint.py has about them.

    python tools/python_imports.py       prints the rooms, from the highest floor to the lowest

An import inside a function counts too: it hides a circle, it does not end it. What only type checkers read does not count. A module
also depends on the packages that it enters: `import penstock._graph.node` runs penstock/_graph/__init__.py first.
"""

import ast

from repository import ROOT

FOLDER = ROOT / "python" / "penstock"
# The room that knows a Pipeline from inside. All others use its public names; those that define pipelines its `definition`.
INSIDE = "_pipeline"
PAGE, INTERFACE = "docs/reference/plugin_interface.md", "penstock.plugin.interface"
PUBLIC_OF_PLUGINS = ("penstock", "plugin", "_pipeline", "service", "torch", "types")


def modules(folder=FOLDER):
    """{name: path} of the package in this folder, with its extension, whose stub says what it has."""
    found = {}
    for path in [*sorted(folder.rglob("*.py")), *folder.glob("_core.pyi")]:
        parts = (folder.name, *path.relative_to(folder).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def _is_for_checkers(node):
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _statements(node):
    for child in ast.iter_child_nodes(node):
        if _is_for_checkers(child):
            for other in child.orelse:
                yield from _statements(other)
        elif isinstance(child, (ast.Import, ast.ImportFrom)):
            yield child
        else:
            yield from _statements(child)


def imports(name, path, known):
    """{module of ours: line} that a module imports."""
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    found = {}
    for node in _statements(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        else:
            base = package[: len(package) - node.level + 1] if node.level else []
            start = ".".join([*base, *([node.module] if node.module else [])])
            targets = [f"{start}.{a.name}" if f"{start}.{a.name}" in known else start for a in node.names]
        for target in targets:
            parts = target.split(".")
            for length in range(1, len(parts) + 1):
                step = ".".join(parts[:length])
                entered = not f"{name}.".startswith(f"{step}.") or (step == target and step != name)
                if step in known and step != name and entered:
                    found.setdefault(step, node.lineno)
    return found


def arrows(folder=FOLDER):
    """{module: {module that it imports: line}}"""
    known = modules(folder)
    return {name: imports(name, path, known) for name, path in known.items() if path.suffix == ".py"}


def circles(pairs):
    """Sets of modules that reach each other, each as a sorted list."""
    reached = {}

    def reach(start):
        seen, waiting = set(), [start]
        while waiting:
            for target in pairs.get(waiting.pop(), ()):
                if target not in seen:
                    seen.add(target)
                    waiting.append(target)
        return seen

    for name in pairs:
        reached[name] = reach(name)
    found = {tuple(sorted({name} | {t for t in reached[name] if name in reached.get(t, ())})) for name in pairs}
    return sorted(list(c) for c in found if len(c) > 1)


def room(name):
    """The room of a module: its folder, or the module itself where it lies beside them."""
    parts = name.split(".")
    return parts[1] if len(parts) > 1 else parts[0]


def rooms(pairs):
    """{room: rooms that it imports}, without the package's own __init__."""
    found = {}
    for name, targets in pairs.items():
        if "." in name:
            own = found.setdefault(room(name), set())
            own |= {room(t) for t in targets if "." in t} - {room(name)}
    return found


def _private(tree):
    """The private names that the classes of a file have."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any(a.arg in ("self", "cls") for a in node.args.args[:1]):
            yield node.name
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def names_of_pipelines(folder=FOLDER):
    """The private names of Pipeline, which other rooms must not use."""
    found = {name for path in (folder / "_pipeline").glob("*.py") for name in _private(ast.parse(path.read_text()))}
    return {name for name in found if name.startswith("_") and not name.endswith("__")}


def private_names(room, text, names):
    """(line, name) of each use of one of the names in a file of a room other than INSIDE, but for those of `self`."""
    if room == INSIDE:
        return
    tree = ast.parse(text)
    own = set(_private(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in names - own:
            if not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")):
                yield node.lineno, node.attr


def table():
    """The rooms as a table in Markdown: floor, room, files, lines, the rooms that it imports."""
    pairs, known = arrows(), modules()
    below, lines = rooms(pairs), {}
    for name, path in known.items():
        if "." in name:
            lines.setdefault(room(name), []).append(len(path.read_text().splitlines()))

    def floor(name):
        return 1 + max((floor(other) for other in below.get(name, ())), default=-1)

    yield "| floor | room | files | lines | imports |\n|---|---|---|---|---|"
    for name in sorted(below, key=lambda r: (-floor(r), r)):
        targets = ", ".join(sorted(below[name])) or "nothing of ours"
        yield f"| {floor(name)} | {name} | {len(lines[name])} | {sum(lines[name])} | {targets} |"


def breaches():
    """(path, line, what) for tools/lint.py."""
    pairs, known = arrows(), modules()
    for circle in circles(pairs):
        name = circle[0]
        yield known[name], 0, f"modules import each other in a circle: {', '.join(circle)}"
    for circle in circles(rooms(pairs)):
        yield FOLDER, 0, f"rooms import each other in a circle: {', '.join(circle)}"
    names = names_of_pipelines()
    for name, path in known.items():
        if path.suffix == ".py":
            for line, found in private_names(room(name), path.read_text(), names):
                yield path, line, f"Pipeline.{found} is private: use what {PAGE} names"
        if room(name) == "plugin" and name != INTERFACE:
            for target, line in pairs[name].items():
                if room(target) not in PUBLIC_OF_PLUGINS:
                    yield path, line, f"a plug-in must not import {target}: {INTERFACE} has what it may use, see {PAGE}"


if __name__ == "__main__":
    print("\n".join(table()))
