# SPDX-License-Identifier: Apache-2.0
"""break, continue and return inside control flow become flags and the conditions that ask for them, so that a body has
one way in and one way out. Where a branch always leaves, what follows moves into the other branch and needs no flag."""

import ast

RETURNS, VALUE = "_penstock_returns", "_penstock_returned"
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_LOOPS = (ast.For, ast.While, ast.AsyncFor)


def _name(name, store=False):
    return ast.Name(name, ast.Store() if store else ast.Load())


def _set(name, value, like):
    return ast.copy_location(ast.Assign([_name(name, True)], value), like)


def _none_of(flags):
    tests = [ast.UnaryOp(ast.Not(), _name(f)) for f in flags]
    return tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)


def _always_leaves(statements):
    for s in statements:
        if isinstance(s, (ast.Return, ast.Break, ast.Continue, ast.Raise)):
            return True
        if isinstance(s, ast.If) and _always_leaves(s.body) and _always_leaves(s.orelse):
            return True
        if isinstance(s, ast.With) and _always_leaves(s.body):
            return True
        if isinstance(s, ast.Try) and (
            _always_leaves(s.finalbody)
            or (_always_leaves(s.body + s.orelse) and all(_always_leaves(h.body) for h in s.handlers))
        ):
            return True
    return False


def _leaves(node, kinds, in_loop=False):
    """Whether a jump of these kinds leaves the statement; break and continue belong to the loop around them."""
    if isinstance(node, _SCOPES):
        return False
    if isinstance(node, kinds) and not (in_loop and isinstance(node, (ast.Break, ast.Continue))):
        return True
    if isinstance(node, _LOOPS):
        return any(_leaves(s, kinds, True) for s in node.body) or any(_leaves(s, kinds, in_loop) for s in node.orelse)
    return any(_leaves(c, kinds, in_loop) for c in ast.iter_child_nodes(node))


class _Lowering:
    def __init__(self):
        self.loops = 0

    def block(self, statements, loop):
        """The statements without jumps. loop: (flag of break, flag of continue) of the loop around."""
        out = []
        for k, s in enumerate(statements):
            rest = statements[k + 1 :]
            if isinstance(s, ast.Return):
                out += [
                    _set(VALUE, s.value or ast.copy_location(ast.Constant(None), s), s),
                    _set(RETURNS, ast.Constant(True), s),
                ]
                return out
            if isinstance(s, (ast.Break, ast.Continue)):
                out.append(_set(loop[0 if isinstance(s, ast.Break) else 1], ast.Constant(True), s))
                return out
            flags = []
            if _leaves(s, ast.Return):
                flags.append(RETURNS)
            if loop and _leaves(s, ast.Break):
                flags.append(loop[0])
            if loop and _leaves(s, ast.Continue):
                flags.append(loop[1])
            if isinstance(s, _LOOPS):
                out += self.loop(s, loop)
            elif isinstance(s, ast.If):
                if flags and rest:
                    if _always_leaves(s.body):
                        s.orelse, rest = s.orelse + rest, []
                    elif _always_leaves(s.orelse):
                        s.body, rest = s.body + rest, []
                    if not rest:
                        flags = []
                s.body = self.block(s.body, loop) or [ast.copy_location(ast.Pass(), s)]
                s.orelse = self.block(s.orelse, loop)
                out.append(s)
                if not rest and not flags and k + 1 < len(statements):
                    return out
            else:
                for field in ("body", "orelse", "finalbody"):
                    if not isinstance(s, _SCOPES) and getattr(s, field, None):
                        setattr(s, field, self.block(getattr(s, field), loop))
                for part in [*getattr(s, "handlers", []), *getattr(s, "cases", [])]:
                    part.body = self.block(part.body, loop)
                out.append(s)
            if flags and rest:
                guarded = self.block(rest, loop)
                out.append(ast.copy_location(ast.If(_none_of(flags), guarded, []), rest[0]))
                return out
        return out

    def loop(self, s, around):
        self.loops += 1
        breaks, continues = f"_penstock_break_{self.loops}", f"_penstock_continue_{self.loops}"
        out, exits = [], []
        if any(_leaves(b, ast.Break) for b in s.body):
            exits.append(breaks)
            out.append(_set(breaks, ast.Constant(False), s))
        if any(_leaves(b, ast.Return) for b in s.body):
            exits.append(RETURNS)
        orelse, s.orelse = s.orelse, []
        has_continue = any(_leaves(b, ast.Continue) for b in s.body)
        s.body = self.block(s.body, (breaks, continues)) or [ast.copy_location(ast.Pass(), s)]
        if has_continue:
            s.body.insert(0, _set(continues, ast.Constant(False), s))
        if exits:
            test = _none_of(exits)
            if isinstance(s, ast.While):
                s.test = ast.copy_location(ast.BoolOp(ast.And(), [test, s.test]), s.test)
            else:
                s.exit_test = test
        out.append(s)
        if orelse:
            body = self.block(orelse, around)
            out += [ast.copy_location(ast.If(_none_of(exits), body, []), s)] if exits else body
        return out


def lower(function):
    """Rewrites the body of a FunctionDef; it then has at most one return, at its end."""
    simple = all(not _leaves(s, ast.Return) or isinstance(s, ast.Return) for s in function.body)
    if not simple and not _always_leaves(function.body):
        function.body.append(ast.copy_location(ast.Return(None), function.body[-1]))
    lowering = _Lowering()
    if simple:
        ends = next((k for k, s in enumerate(function.body) if isinstance(s, ast.Return)), None)
        last = [] if ends is None else [function.body[ends]]
        function.body = lowering.block(function.body[:ends], None) + last
        return
    body = lowering.block(function.body, None)
    start = function.body[0] if function.body else function
    from_unset = ast.Call(ast.Attribute(_name("_penstock_"), "unset", ast.Load()), [ast.Constant(VALUE)], [])
    end = ast.Return(ast.Call(ast.Attribute(_name("_penstock_"), "returned", ast.Load()), [_name(VALUE)], []))
    end.value.args[0].raw = True
    function.body = [
        _set(VALUE, from_unset, start),
        _set(RETURNS, ast.Constant(False), start),
        *body,
        ast.copy_location(end, function),
    ]
