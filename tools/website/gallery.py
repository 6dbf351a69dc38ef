# SPDX-License-Identifier: Apache-2.0
"""The gallery: a picture of each operator, before and after the call that stands below it, family by family."""

import ast
import warnings

import cpp_groups
import docstrings
from gallery_calls import CALLS
from scenes import page_of, picture_of, scene, side_by_side

import penstock
from penstock import _core, fn

ZEROS = "np.zeros((48, 64, 3), np.uint8)"


def operator(name):
    found = fn
    for part in name.split("."):
        found = getattr(found, part)
    return found


def example(name):
    """The lines of the example of an operator's docstring."""
    return "\n".join(docstrings.parts(operator(name).__doc__)[1]["Example"]).strip()


def first_call(name, lines):
    """The call of the operator in an example, with `image` where the example has zeros; "" if it has no image."""
    program = "\n".join(line[4:] for line in lines.splitlines() if line.startswith((">>>", "...")))
    if ZEROS not in program:
        return ""
    calls = [n for n in ast.walk(ast.parse(program)) if isinstance(n, ast.Call) and ast.unparse(n.func) == f"fn.{name}"]
    call = ast.unparse(calls[0]).replace(ZEROS, "image") if calls else ""
    return call if call.startswith(f"fn.{name}(image") else ""


def recipe(name):
    """(call, left, right) of an operator; without a call, the picture is the text of its example."""
    found = CALLS.get(name) or first_call(name, example(name))
    return found if isinstance(found, tuple) else (found, "image", "result")


def drawn(name, names):
    """(the line below the picture, the picture) of an operator."""
    call, left, right = recipe(name)
    sound = cpp_groups.group_of(name) == "audio"
    if not call:
        return "", page_of(example(name)).crop((0, 0, 320, 240))
    penstock.seed(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        here = {**names, "result": eval(call, names)}
        before, after = (picture_of(eval(e, here), sound) for e in (left, right))
    return call, side_by_side(before, after)


def families():
    """{group: names of its operators}, in the order of the headers of C++; an operator is in one."""
    made = {group: [] for group in cpp_groups.GROUPS}
    for name in _core.operators():
        made[cpp_groups.group_of(name)].append(name)
    return made


def card(name, call, picture):
    """What the page shows of an operator; without a picture, its example."""
    about = operator(name).__doc__.strip().splitlines()[0]
    title = f"**[fn.{name}](reference/operators/{name}.md)** {about}"
    if not picture:
        shown = ["```python", *example(name).splitlines(), "```"]
    else:
        shown = [
            f"[![{name}](gallery/{picture}){{ width=652 height=240 loading=lazy }}](reference/operators/{name}.md)",
            "",
            f"`{call}`",
        ]
    return "\n".join(['<div class="card" markdown>', "", title, "", *shown, "", "</div>"])


def write(tree):
    """Writes gallery.md of a tree and its pictures; returns {name: (call, file name of the picture)}."""
    folder = tree.folder / "gallery"
    folder.mkdir()
    names, lines, pictures = (
        scene(),
        ["# Gallery", "", "Each picture is made by the call below it. Left: before; right: after.", ""],
        {},
    )
    for group, members in families().items():
        lines += [f"## {cpp_groups.about(group)}", "", '<div class="cards" markdown>', ""]
        for name in members:
            call, picture = drawn(name, names)
            file = f"{name}.jpg" if call else ""
            if file:
                picture.save(folder / file, quality=88)
                pictures[name] = call, file
            lines += [card(name, call, file), ""]
        lines += ["</div>", ""]
    tree.write("gallery.md", "\n".join(lines))
    return pictures
