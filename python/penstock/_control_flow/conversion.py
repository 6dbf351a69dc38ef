# SPDX-License-Identifier: Apache-2.0
"""Conversion of a user's function: `if`, `while`, `for`, conditional expressions, `and`, `or`, `not`, chained comparisons
and assignments to elements become calls of statements.py. Nothing else changes: lines, closures, defaults and
globals are the user's."""

import ast
import inspect
import os
import site
import sysconfig
import textwrap
import types as python_types

from .._base.converted_code import made, templates
from .._base.frames import PACKAGE
from .jumps import lower
from .liveness import annotate, assigned, assigned_in_part, targets

RUN = "_penstock_"  # the name of statements.py in converted code
_folders = sysconfig.get_paths()
_INSTALLED = tuple(
    {os.path.abspath(p) + os.sep for p in (_folders["purelib"], _folders["platlib"], *site.getsitepackages())}
)
_STANDARD = tuple({os.path.abspath(_folders[k]) + os.sep for k in ("stdlib", "platstdlib")})
# Packages whose functions work on arrays, not on values of a pipeline.
_FOREIGN = tuple(
    folder + name + os.sep
    for folder in _INSTALLED
    for name in ("cupy", "jax", "numba", "numpy", "pandas", "PIL", "scipy", "tensorflow", "torch")
)


def do_not_convert(function=None):
    """Marks a function whose control flow stays Python's own; it cannot take values of a pipeline then."""
    if function is None:
        return do_not_convert
    if getattr(function, "_is_pipeline_def", False):
        raise ValueError(f"'{function.__name__}' defines a pipeline: its control flow is converted")
    function._penstock_unconverted = True
    return function


def is_installed(function):
    """Whether an installed package has the function: it is converted when it gets values of the pipeline."""
    return function.__code__.co_filename.startswith(_INSTALLED)


def converted_code(function):
    """The code with control flow over values of the pipeline; None where there is nothing to convert."""
    code = function.__code__
    file = code.co_filename
    if code in made or file.startswith(PACKAGE) or getattr(function, "_penstock_unconverted", False):
        return None
    if file.startswith(_FOREIGN) or (file.startswith(_STANDARD) and not file.startswith(_INSTALLED)):
        return None
    if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR | inspect.CO_COROUTINE):
        return None
    template = templates.get(code)
    if template is None:
        try:
            template = _template(function)
        except (OSError, TypeError, SyntaxError) as error:
            template = f"the source of '{function.__name__}' cannot be read ({error})"
            if function.__name__ == "<lambda>" and not isinstance(error, OSError):
                template = (
                    f"the lambda of {code.co_filename}:{code.co_firstlineno} is not converted, nor is what it calls: "
                    "write it as a function with `def`"
                )
        templates[code] = template
    return None if isinstance(template, str) else template


def _template(function):
    code = function.__code__
    node = _lambda_source(code) if code.co_name == "<lambda>" else _function_source(function)
    node.decorator_list = []
    node.args.defaults, node.args.kw_defaults = [], [None] * len(node.args.kwonlyargs)
    node.returns = None
    for a in ast.walk(node.args):
        if isinstance(a, ast.arg):
            a.annotation = None
    _Function(node).convert()
    name, node.name = node.name, "_penstock_made"  # its own name stays a global or a closed-over name
    outer = ast.FunctionDef(
        "_penstock_factory",
        ast.arguments([], [ast.arg(RUN), *(ast.arg(n) for n in code.co_freevars)], None, [], [], None, []),
        [node, ast.Return(ast.Name(node.name, ast.Load()))],
        [],
    )
    outer.type_params = []
    module = ast.Module([ast.copy_location(outer, node)], [])
    ast.fix_missing_locations(module)
    space = {}
    exec(compile(module, code.co_filename, "exec", dont_inherit=True), space)
    made = space["_penstock_factory"](*([None] * (1 + len(code.co_freevars)))).__code__
    made = made.replace(co_name=name, **({"co_qualname": code.co_qualname} if hasattr(code, "co_qualname") else {}))
    _remember(made)
    return made


def _function_source(function):
    lines, first = inspect.getsourcelines(function)
    tree = ast.parse(textwrap.dedent("".join(lines)))
    node = tree.body[0]
    if not isinstance(node, ast.FunctionDef) or node.name != function.__code__.co_name:
        raise SyntaxError("it is not a `def`")
    return ast.increment_lineno(tree, first - 1).body[0]


def _lambda_source(code):
    """A lambda as a function that returns: the one that compiles to this code, if several begin in one line."""
    lines, _ = inspect.findsource(code)
    found = [
        n for n in ast.walk(ast.parse("".join(lines))) if isinstance(n, ast.Lambda) and n.lineno == code.co_firstlineno
    ]
    if len(found) > 1:
        made = [(n, _compiled(n, code)) for n in found]
        alike = [
            (n, c)
            for n, c in made
            if all(getattr(c, k) == getattr(code, k) for k in ("co_names", "co_varnames"))
            and (_plain_constants(c) == _plain_constants(code))
        ]
        # The instructions of one source differ with what is imported around it.
        found = [n for n, c in alike if c.co_code == code.co_code] or [n for n, _ in alike]
    if not found or len({ast.dump(n) for n in found}) > 1:
        raise SyntaxError(
            "there is no such lambda in its line" if not found else "its line has several lambdas that look alike"
        )
    node = ast.FunctionDef(
        code.co_name, found[0].args, [ast.copy_location(ast.Return(found[0].body), found[0].body)], []
    )
    node.type_params = []
    return ast.copy_location(node, found[0])


def _compiled(node, code):
    """The code of a lambda, with the names closed over that `code` has."""
    own = ast.arguments(**{field: value for field, value in ast.iter_fields(node.args)})
    own.defaults = [ast.Constant(None) for _ in own.defaults]
    own.kw_defaults = [d and ast.Constant(None) for d in own.kw_defaults]
    node = ast.copy_location(ast.Lambda(own, node.body), node)
    factory = ast.Lambda(ast.arguments([], [ast.arg(n) for n in code.co_freevars], None, [], [], None, []), node)
    factory = ast.fix_missing_locations(ast.Expression(ast.copy_location(factory, node)))
    return eval(compile(factory, code.co_filename, "eval", dont_inherit=True))(*[None] * len(code.co_freevars)).__code__


def _plain_constants(code):
    return [
        (type(c), c) for c in code.co_consts if not inspect.iscode(c) and not (isinstance(c, str) and "<lambda>" in c)
    ]


def _remember(code):
    made.add(code)
    for c in code.co_consts:
        if isinstance(c, python_types.CodeType):
            _remember(c)


def _load(name):
    node = ast.Name(name, ast.Load())
    node.raw = True
    return node


def _tuple(names, store=False):
    return ast.Tuple(
        [ast.Name(n, ast.Store()) if store else _load(n) for n in names], ast.Store() if store else ast.Load()
    )


def _located(made, like):
    """Moves a call over several lines to its last line, where Python shows its error."""
    ast.copy_location(made, like)
    made.end_lineno, made.end_col_offset = made.lineno, made.col_offset + 1
    return made


def _run(name, *arguments):
    return ast.Call(ast.Attribute(_load(RUN), name, ast.Load()), list(arguments), [])


def _lambda(body, names=()):
    return ast.Lambda(ast.arguments([], [ast.arg(n) for n in names], None, [], [], None, []), body)


def _is_lazy(node):
    """Whether the expression may move into a lambda."""
    return not any(isinstance(n, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)) for n in ast.walk(node))


_OPERATORS = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}
_AUGMENTED = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.MatMult: "@",
}


class _Function(ast.NodeTransformer):
    """Converts one function; nested ones have their own object."""

    def __init__(self, node):
        self.node = node
        self.parameters = {a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)}
        self.outer_names, self.kinds = set(), {}
        self.temporary = 0

    def convert(self):
        lower(self.node)
        for s in self._own_statements():
            if isinstance(s, (ast.Global, ast.Nonlocal)):
                self.outer_names |= set(s.names)
                self.kinds.update({n: type(s) for n in s.names})
        self.locals = (assigned(self.node.body) | self.parameters) - self.outer_names
        annotate(self.node)
        self.maybe_unset = set()
        body, states = self._block(self.node.body)
        begin = [s for s in body if isinstance(s, (ast.Global, ast.Nonlocal))]
        body = [s for s in body if not isinstance(s, (ast.Global, ast.Nonlocal))]
        self.node.body = begin + self._unset(states - self.parameters, self.node) + body
        _Checks(self.maybe_unset - self.parameters).visit(self.node)

    def _own_statements(self):
        waiting = list(self.node.body)
        while waiting:
            s = waiting.pop()
            yield s
            if not isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
                waiting += [c for c in ast.iter_child_nodes(s)]

    def _unset(self, names, like):
        """Makes sure that variables that control flow passes exist, with or without a value."""
        return [
            ast.copy_location(ast.Assign([ast.Name(n, ast.Store())], _run("unset", ast.Constant(n))), like)
            for n in sorted(names)
        ]

    def _block(self, statements):
        """(converted statements, variables that their control flow passes)."""
        out, states = [], set()
        for s in statements:
            if isinstance(s, ast.If):
                made, names = self._if(s)
            elif isinstance(s, (ast.While, ast.For)):
                made, names = self._loop(s)
            elif isinstance(s, ast.Delete):
                made, names = self._delete(s)
            elif isinstance(s, (ast.With, ast.Try, ast.Match, *([ast.TryStar] if hasattr(ast, "TryStar") else []))):
                made, names = self._nested(s)
            else:
                made, names = self.visit(s), set()
            made = made if isinstance(made, list) else [made]
            out += [m if m is s else _located(m, s) for m in made]
            states |= names
        return out, states

    def _nested(self, s):
        names = set()
        for part in [s, *getattr(s, "handlers", []), *getattr(s, "cases", [])]:
            for field in ("body", "orelse", "finalbody"):
                if getattr(part, field, None):
                    made, more = self._block(getattr(part, field))
                    setattr(part, field, made)
                    names |= more
        for item in getattr(s, "items", []):
            item.context_expr = self.visit(item.context_expr)
        if isinstance(s, ast.Match):
            s.subject = self.visit(s.subject)
        return s, names

    def _delete(self, s):
        made = []
        names = {t.id for t in s.targets if isinstance(t, ast.Name) and t.id in self.locals}
        for t in s.targets:
            if isinstance(t, ast.Name) and t.id in self.locals:
                made.append(ast.Assign([ast.Name(t.id, ast.Store())], _run("unset", ast.Constant(t.id))))
            else:
                made.append(ast.Delete([t]))
        self.maybe_unset |= names
        return made, set()

    def _body(self, name, parameters, statements, results, like, first=()):
        """def name(parameters): statements; return results"""
        body, states = self._block(statements)
        declared = [n for n in sorted(assigned(statements) & self.outer_names)]
        head = [self.kinds[n]([n]) for n in declared]
        end = ast.Return(_tuple(results))
        function = ast.FunctionDef(
            name,
            ast.arguments([], [ast.arg(p) for p in parameters], None, [], [], None, []),
            [*head, *self._unset(states - set(parameters), like), *first, *body, end],
            [],
        )
        function.type_params = []
        for s in (*head, *first, end):
            ast.copy_location(s, like)
        return ast.copy_location(function, like)

    def _changed(self, statements):
        return (assigned(statements) - self.outer_names) | (assigned_in_part(statements) & self.locals)

    def _next(self, what):
        self.temporary += 1
        return f"_penstock_{what}_{self.temporary}"

    def _if(self, s):
        changed = self._changed(s.body + s.orelse)
        results = sorted(changed & s.live)
        state = sorted(changed & (s.live | s.live_then | s.live_else))
        self.maybe_unset |= set(state)
        then, otherwise = self._next("then"), self._next("else")
        test = self.visit(s.test)
        call = _run(
            "if_stmt",
            test,
            _load(then),
            _load(otherwise),
            _tuple(state),
            ast.Tuple([ast.Constant(n) for n in results], ast.Load()),
        )
        return [
            self._body(then, state, s.body, results, s),
            self._body(otherwise, state, s.orelse, results, s),
            self._results(results, call),
        ], set(state)

    def _results(self, names, call):
        return ast.Assign([_tuple(names, True)], call) if names else ast.Expr(call)

    def _loop(self, s):
        is_for = isinstance(s, ast.For)
        changed = self._changed(s.body + ([s.target] if is_for else []))
        state = sorted(changed & s.live)
        self.maybe_unset |= set(state)
        body = self._next("body")
        names = ast.Tuple([ast.Constant(n) for n in state], ast.Load())
        if is_for:
            item = self._next("item")
            take = self.visit(ast.copy_location(ast.Assign([s.target], _load(item)), s))
            first = take if isinstance(take, list) else [take]
            made = self._body(body, [item, *state], s.body, state, s, first)
            exit_test = getattr(s, "exit_test", None)
            test = ast.Constant(None) if exit_test is None else _lambda(self.visit(exit_test), state)
            call = _run("for_stmt", self.visit(s.iter), test, _load(body), _tuple(state), names)
        else:
            made = self._body(body, state, s.body, state, s)
            call = _run("while_stmt", _lambda(self.visit(s.test), state), _load(body), _tuple(state), names)
        made = [made, self._results(state, call)]
        if s.orelse:
            more, states = self._block(s.orelse)
            return made + more, set(state) | states
        return made, set(state)

    # --- statements that assign ---------------------------------------------------------------------------------------

    def visit_Assign(self, s):
        s.value = self.visit(s.value)
        if not any(
            isinstance(n, (ast.Subscript))
            for t in s.targets
            for n in ast.walk(t)
            if isinstance(getattr(n, "ctx", None), ast.Store)
        ):
            s.targets = [self.visit(t) for t in s.targets]
            return s
        value = self._next("value")
        out = [ast.Assign([ast.Name(value, ast.Store())], s.value)]
        for t in s.targets:
            out += self._store(t, _load(value))
        return out

    def visit_AnnAssign(self, s):
        if isinstance(s.target, ast.Subscript) and s.value is not None:
            return self.visit_Assign(ast.copy_location(ast.Assign([s.target], s.value), s))
        s.value = self.visit(s.value) if s.value else None
        return s

    def _store(self, target, value):
        if isinstance(target, ast.Name):
            return [ast.Assign([target], value)]
        if isinstance(target, (ast.Tuple, ast.List)):
            names, out = [], []
            for e in target.elts:
                star = isinstance(e, ast.Starred)
                name = self._next("part")
                names.append(
                    ast.Starred(ast.Name(name, ast.Store()), ast.Store()) if star else ast.Name(name, ast.Store())
                )
                out += self._store(e.value if star else e, _load(name))
            return [ast.Assign([ast.Tuple(names, ast.Store())], value), *out]
        if isinstance(target, ast.Attribute):
            base = self.visit(target.value)
            return [ast.Expr(_run("set_attribute", base, ast.Constant(target.attr), value))]
        return self._store_item(target, lambda base, key: _run("set_item", base, key, value))

    def _store_item(self, target, make):
        """x[key] = ...: binds x to what make(x, key) returns."""
        out = []

        def once(expression):
            if isinstance(expression, ast.Constant):
                return expression
            name = self._next("key")
            out.append(ast.Assign([ast.Name(name, ast.Store())], expression))
            return _load(name)

        def place(node):
            """(expression that reads the place, function that makes statements that store into it)"""
            if isinstance(node, ast.Name):
                read = ast.Name(node.id, ast.Load())
                if node.id in self.locals:
                    return read, lambda v: [ast.Assign([ast.Name(node.id, ast.Store())], v)]
                return read, lambda v: [
                    ast.Expr(_run("set_attribute", ast.Constant(None), ast.Constant(node.id), v, read))
                ]
            if isinstance(node, ast.Subscript):
                base, store = place(node.value)
                key = once(_key(self.visit(node.slice)))
                return ast.Subscript(base, key, ast.Load()), lambda v: store(_run("put_back", base, key, v))
            if isinstance(node, ast.Attribute):
                base = once(self.visit(node.value))
                return ast.Attribute(base, node.attr, ast.Load()), lambda v: [
                    ast.Expr(_run("set_attribute", base, ast.Constant(node.attr), v))
                ]
            held = once(self.visit(node))
            return held, lambda v: [ast.Expr(v)]

        base, store = place(target.value)
        key = once(_key(self.visit(target.slice)))
        return [*out, *store(make(base, key))]

    def visit_AugAssign(self, s):
        value = self.visit(s.value)
        if isinstance(s.target, ast.Subscript):
            symbol = ast.Constant(_AUGMENTED[type(s.op)])
            return self._store_item(s.target, lambda base, key: _run("aug_item", base, key, symbol, value))
        s.value = value
        return s

    # --- expressions --------------------------------------------------------------------------------------------------

    def visit_BoolOp(self, node):
        lazy = all(_is_lazy(v) for v in node.values[1:]) and _is_lazy(node.values[0])
        self.generic_visit(node)
        if not lazy:
            return node
        name = "and_" if isinstance(node.op, ast.And) else "or_"
        return ast.copy_location(_run(name, *(_lambda(v) for v in node.values)), node)

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        return ast.copy_location(_run("not_", node.operand), node) if isinstance(node.op, ast.Not) else node

    def visit_IfExp(self, node):
        lazy = _is_lazy(node.body) and _is_lazy(node.orelse)
        self.generic_visit(node)
        if not lazy:
            return node
        return ast.copy_location(_run("ternary", node.test, _lambda(node.body), _lambda(node.orelse)), node)

    def visit_Compare(self, node):
        lazy = all(_is_lazy(c) for c in node.comparators)
        self.generic_visit(node)
        if len(node.ops) == 1 or not lazy:
            return node
        symbols = ast.Tuple([ast.Constant(_OPERATORS[type(o)]) for o in node.ops], ast.Load())
        return ast.copy_location(_run("chain", symbols, node.left, *(_lambda(c) for c in node.comparators)), node)

    def visit_Call(self, node):
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in (
            "super",
            "locals",
            "globals",
            "vars",
            "dir",
            "eval",
            "exec",
        ):
            return node
        node.func = ast.copy_location(_run("call", node.func), node.func)
        return node

    # --- scopes of their own ------------------------------------------------------------------------------------------

    def visit_FunctionDef(self, node):
        node.decorator_list = [self.visit(d) for d in node.decorator_list]
        node.args.defaults = [self.visit(d) for d in node.args.defaults]
        node.args.kw_defaults = [self.visit(d) if d else None for d in node.args.kw_defaults]
        if not any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in _own_nodes(node)):
            _Function(node).convert()
        return node

    def visit_ClassDef(self, node):
        return node

    visit_AsyncFunctionDef = visit_ClassDef

    def visit_Global(self, node):
        return node

    visit_Nonlocal = visit_Global


def _own_nodes(function):
    waiting = list(function.body)
    while waiting:
        n = waiting.pop()
        yield n
        if not isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            waiting += list(ast.iter_child_nodes(n))


def _key(node):
    """An index as an expression: a slice becomes slice(...)."""
    if isinstance(node, ast.Slice):
        return ast.Call(
            ast.Attribute(_load(RUN), "slice_", ast.Load()),
            [p or ast.Constant(None) for p in (node.lower, node.upper, node.step)],
            [],
        )
    if isinstance(node, ast.Tuple):
        return ast.Tuple([_key(e) for e in node.elts], ast.Load())
    return node


class _Checks(ast.NodeTransformer):
    """Makes the read of a variable that may have no value an error that says why."""

    def __init__(self, names):
        self.names = names

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Load) and node.id in self.names and not getattr(node, "raw", False):
            node.raw = True
            return ast.copy_location(_run("defined", node), node)
        return node


__all__ = ["RUN", "converted_code", "do_not_convert", "is_installed", "targets"]
