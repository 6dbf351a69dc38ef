# SPDX-License-Identifier: Apache-2.0
"""penstock doctor: what this machine and this installation have, what is missing, and what installs it."""

from __future__ import annotations

import json

from .checks import USES, findings
from .machine import Machine


def uses_of(text):
    """Returns the words of --for.

    Args:
        text: Words with commas between them.

    Raises:
        ValueError: There is no such word.
    """
    words = [word.strip() for word in text.split(",") if word.strip()]
    for word in words:
        if word not in USES:
            raise ValueError(f"--for has no '{word}'; it takes, with commas between them: {', '.join(USES)}")
    return words


def report(found, wanted):
    """Prints findings for people.

    Args:
        found: The findings.
        wanted: The words of --for.
    """
    width = max(len(f.name) for f in found)
    for f in found:
        needed = f.state == "missing" and set(wanted) & set(f.uses)
        state = "MISSING" if needed else "not here" if f.state == "missing" else f.state
        print(f"{state:<8}  {f.name:<{width}}  {f.found}")
        if f.fix:
            print(f"{'':<8}  {'':<{width}}  -> {f.fix}")


def doctor(args):
    """Says what this machine has for pipelines, what is missing, and the command that installs it."""
    wanted = uses_of(getattr(args, "for"))
    if args.data and "data" not in wanted:
        wanted.append("data")
    if "data" in wanted and not args.data:
        raise ValueError("--for data needs --data PATH: the file or folder to look at")
    found = list(findings(Machine(), args.data))
    lacking = [f for f in found if f.state == "missing" and set(wanted) & set(f.uses)]
    if args.json:
        print(json.dumps({"missing": [f.name for f in lacking], "findings": [f.as_dict() for f in found]}, indent=2))
        return 1 if lacking else 0
    report(found, wanted)
    if lacking:
        print(f"missing for {','.join(wanted)}: {', '.join(f.name for f in lacking)}")
    elif wanted:
        print(f"all that {','.join(wanted)} needs is here")
    return 1 if lacking else 0


def add_doctor(command):
    """Adds the command.

    Args:
        command: Adds a command to the program and returns its parser.
    """
    c = command(doctor, threads=False, epilog="Ends with 1 where anything that --for names is missing.")
    c.add_argument("--for", default="", metavar="USES", help=f"what it must do, with commas: {', '.join(USES)}")
    c.add_argument(
        "--data", action="append", default=[], metavar="PATH", help="a data set to look at; several may be given"
    )
    c.add_argument("--json", action="store_true", help="print JSON")
