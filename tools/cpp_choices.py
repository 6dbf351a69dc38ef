# SPDX-License-Identifier: Apache-2.0
"""Enumerations of C++ for arguments that take one of a few names.

An argument is one if its documentation names the values, in quotes or as "value: meaning", and the default is among them.
Arguments of one name share an enumeration if one has all values of the other.
"""

import re

QUOTED = re.compile(r"[\"']([A-Za-z0-9_.]+)[\"']")
EXPLAINED = re.compile(r"(?:^|[.;] )([a-z][a-z0-9_]*)(?:, [a-z0-9_]+)*: ")
OF_NUMBERS = {"interp_type": "Interpolation", "mag_filter": "Interpolation", "min_filter": "Interpolation"}
GIVEN = {  # where a sentence says more, or less, than the names
    "out_of_bounds_policy": ["error", "constant", "trim_to_shape", "edge", "reflect", "reflect_101", "wrap"],
    "decoder": ["auto", "cuda", "hardware", "cpu"],
    "weights": ["float32", "int16"],
    "file_list_rounding": ["start_down_end_up", "start_up_end_down", "all_up", "all_down"],
    "missing_component_behavior": ["empty", "skip", "error"],
    "strategy": ["default", "filtered", "huffman", "rle", "fixed"],
}
BORDERS = ["constant", "replicate", "reflect", "reflect_101", "wrap"]
OTHER_NAMES = {"clamp": "replicate", "reflect_1001": "reflect"}  # of borders


def values_of(argument):
    """The names that an argument takes, in the order of its documentation; none: any text."""
    doc, default = argument["doc"], argument["default"]
    if argument["type"] != "str":
        return []
    if argument["name"] in GIVEN:
        return GIVEN[argument["name"]]
    quoted, explained = (list(dict.fromkeys(found.findall(doc))) for found in (QUOTED, EXPLAINED))
    if argument["name"] == "border" and "constant" in quoted:
        return BORDERS
    for values in (quoted, explained):
        if len(values) > 1 and (default in values or default is None and values is quoted):
            return values
    return []


def camel(name):
    return "".join(part.capitalize() for part in re.split(r"[_.]", name))


def find(operators):
    """({(operator, argument): enumeration}, {enumeration: {value: number or None}})."""
    families, of, enums = {}, {}, {}  # families: {argument: [(values, users)]}
    for operator in operators:
        for argument in operator["arguments"]:
            key = (operator["name"], argument["name"])
            if "names" in argument:
                names = [name.strip("'") for name in argument["names"]]
                of[key] = OF_NUMBERS.get(argument["name"]) or ("ImageType" if "any_data" in names else "ColorFormat")
                enums[of[key]] = dict(zip(names, argument["numbers"]))
            elif values := values_of(argument):
                name = "border_mode" if values == BORDERS else argument["name"]
                known = families.setdefault(name, [])
                for family in known:
                    if set(values) <= set(family[0]) or set(family[0]) <= set(values):
                        family[0] = max(family[0], values, key=len)
                        family[1].append(key)
                        break
                else:
                    known.append([values, [key]])
    for name, known in sorted(families.items()):
        for values, users in known:
            of_operators = sorted({operator for operator, _ in users}, key=len)
            alone = len(known) == 1 and (len(of_operators) > 1 or "_" in name)
            enum = camel(name) if alone else camel(of_operators[0].rpartition(".")[2]) + camel(name)
            enums[enum] = dict.fromkeys(values)
            of.update(dict.fromkeys(users, enum))
    return of, enums


def value_of(argument, text):
    """The enumerator's name for a default."""
    return OTHER_NAMES.get(text, text) if argument["name"] == "border" else text
