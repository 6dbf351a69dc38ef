# SPDX-License-Identifier: Apache-2.0
"""Which variables of a function are read later: only these need to agree where branches meet. A backward pass over the
statements, after break, continue and return have become flags."""

import ast


def reads(node):
    """Names that an expression or statement may read, nested functions included."""
    if node is None:
        return set()
    nodes = node if isinstance(node, list) else [node]
    return {
        n.id
        for top in nodes
        for n in ast.walk(top)
        if isinstance(n, ast.Name) and isinstance(n.ctx, (ast.Load, ast.Del))
    }


def targets(node):
    """Names that an assignment's target binds."""
    if isinstance(node, ast.Name):
        return {node.id}
    if isinstance(node, (ast.Tuple, ast.List)):
        return set().union(*(targets(e) for e in node.elts)) if node.elts else set()
    if isinstance(node, ast.Starred):
        return targets(node.value)
    return set()


def assigned(statements):
    """Names that the statements may bind in their scope."""
    found = set()

    class Binds(ast.NodeVisitor):
        def visit_Name(self, node):
            if isinstance(node.ctx, (ast.Store, ast.Del)):
                found.add(node.id)

        def visit_FunctionDef(self, node):
            found.add(node.name)

        visit_AsyncFunctionDef = visit_ClassDef = visit_FunctionDef

        def visit_Lambda(self, node):
            pass

        def _comprehension(self, node):  # only := binds outside it
            for inner in ast.walk(node):
                if isinstance(inner, ast.NamedExpr):
                    found.add(inner.target.id)

        visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

        def visit_ExceptHandler(self, node):
            if node.name:
                found.add(node.name)
            self.generic_visit(node)

        def _alias(self, node):
            found.update((a.asname or a.name).split(".")[0] for a in node.names)

        visit_Import = visit_ImportFrom = _alias

        def visit_MatchAs(self, node):
            if node.name:
                found.add(node.name)
            self.generic_visit(node)

        visit_MatchStar = visit_MatchAs

    for s in statements:
        Binds().visit(s)
    return found


def assigned_in_part(statements):
    """Names x of x[...] = value and x[...][...] = value: the assignment binds x again."""
    found, waiting = set(), list(statements)
    while waiting:
        n = waiting.pop()
        if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store):
            base = n.value
            while isinstance(base, ast.Subscript):
                base = base.value
            if isinstance(base, ast.Name):
                found.add(base.id)
        if not isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            waiting += list(ast.iter_child_nodes(n))
    return found


def annotate(function):
    """Sets `live` on each If (read after it), While and For (read at its head, the next trip included)."""
    always = set()  # nested functions may read these at any time
    for node in ast.walk(function):
        if node is not function and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            always |= reads(node)
    _block(function.body, set(), always)


def _block(statements, live, always):
    for s in reversed(statements):
        live = _statement(s, live, always)
    return live


def _statement(s, live, always):
    if isinstance(s, ast.If):
        s.live = live | always
        s.live_then, s.live_else = _block(s.body, live, always), _block(s.orelse, live, always)
        return s.live_then | s.live_else | reads(s.test)
    if isinstance(s, (ast.While, ast.For, ast.AsyncFor)):
        behind = _block(s.orelse, live, always)
        head = (
            set(behind) | reads(getattr(s, "exit_test", None)) | (reads(s.test) if isinstance(s, ast.While) else set())
        )
        while True:
            inside = _block(s.body, head, always)
            if not isinstance(s, ast.While):
                inside = inside - targets(s.target) | reads(s.target)
            if inside <= head:
                break
            head = head | inside
        s.live = head | always
        return head if isinstance(s, ast.While) else head | reads(s.iter)
    if isinstance(s, (ast.With, ast.AsyncWith)):
        live = _block(s.body, live, always)
        for item in s.items:
            live = live - (targets(item.optional_vars) if item.optional_vars else set())
            live = live | reads(item.context_expr)
        return live
    if isinstance(s, (ast.Try, *([ast.TryStar] if hasattr(ast, "TryStar") else []), ast.Match)):
        live = live | reads(s)  # an exception may leave any part
        for field in ("body", "orelse", "finalbody"):
            _block(getattr(s, field, []), live, always)
        for part in [*getattr(s, "handlers", []), *getattr(s, "cases", [])]:
            _block(part.body, live, always)
        return live
    if isinstance(s, (ast.Assign, ast.AnnAssign)):
        bound = (
            set().union(*(targets(t) for t in s.targets))
            if isinstance(s, ast.Assign)
            else (targets(s.target) if s.value else set())
        )
        return (live - bound) | reads(s)
    if isinstance(s, ast.AugAssign):
        return live | reads(s) | targets(s.target)
    if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return (live - {s.name}) | reads(s)
    if isinstance(s, (ast.Return, ast.Raise)):
        return reads(s) | always
    return live | reads(s)
