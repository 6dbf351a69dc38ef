# SPDX-License-Identifier: Apache-2.0
"""One module a suite; each has tables(settings), which measures and yields results:

    {"title", "unit", "rows", "failed", "targets": [(what, value, relation, wanted)]}

Penstock and its peers run in one process, in turns. A peer that cannot be imported is a failed row, not an end.
"""


def chosen(methods, settings):
    """Without the methods that `--only` leaves out: names begin with the library's."""
    return {name: make for name, make in methods.items() if name.lower().startswith(settings.only)}


def row_of(rows, name):
    return next((row for row in rows if row["method"] == name), None)


def best_of(rows, prefix, key="rate"):
    """The best value among the methods of one library, or None."""
    values = [row[key] for row in rows if row["method"].startswith(prefix)]
    return max(values, default=None)


def cheapest(rows, prefix, rate):
    """The row with the fewest cores among those of one library that reach the rate, else its fastest; None without rows."""
    ours = [row for row in rows if row["method"].startswith(prefix)]
    reaching = [row for row in ours if row["rate"] >= rate]
    return min(reaching, key=lambda r: r["cores"]) if reaching else max(ours, key=lambda r: r["rate"], default=None)


def target(rows, method, key, relation, wanted):
    row = row_of(rows, method)
    value = row.get(key) if row else None
    met = None if value is None or wanted is None else value >= wanted if relation == ">=" else value <= wanted
    return {"method": method, "what": key, "value": value, "relation": relation, "wanted": wanted, "met": met}
