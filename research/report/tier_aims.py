"""What the lab's policy of caches in tiers is to reach, from the results of `research/papers/two-tier-cache/tiers.py`.

Results call this policy `gannet`; the engine does not have it.
"""


def experiment(name):
    """The rows of one experiment of `research/papers/two-tier-cache/tiers.py`."""
    return lambda result: [row for row in result["rows"] if row["experiment"] == name]


def setting_lines(result):
    """The rows of every policy and of all of foyer's settings at a log and capacity."""
    found = {}
    for row in experiment("policies")(result) + experiment("foyer")(result):
        found.setdefault(f"{row['log']}, {row['capacity_mb']} MB", []).append(row)
    return found


def at(row, path):
    """The value at a path of names parted by slashes."""
    for name in path.split("/"):
        row = row[name]
    return row


def tenths(value):
    return f"{value:,.1f}"


def own(rows, policy="gannet"):
    return next(row for row in rows if row["policy"] == policy)


def best_of(path, scale, better, chosen):
    """The best figure of the chosen rows, with the name of its policy."""
    def of(rows):
        row = better((row for row in rows if chosen(row["policy"])), key=lambda row: at(row, path), default=None)
        if row is None:
            return None
        name = row["order"] if row["policy"] == "foyer" else row["policy"]
        return f"{tenths(at(row, path) * scale)} {name}"
    return of


def is_best(path, better):
    """Whether the policy's figure is that of the best of all rows."""
    return lambda rows: "holds" if at(own(rows), path) == better(at(row, path) for row in rows) else "does not hold"


def is_half(rows):
    written = [own(rows, policy)["flash"]["written_bytes"] for policy in ("gannet", "gannet-all")]
    return "holds" if 2 * written[0] <= written[1] else "does not hold"


# What is compared with the best of all others: its name, where it is in a row, its scale, and which
# is better.
COMPARED = [("bytes, %", "hit_ratio/bytes", 100, max), ("response, ms", "modelled_response_us", 1e-3, min)]


def missed_aims(result):
    """A line for each aim that is missed, of the settings in which the lab's policies ran."""
    found = []
    for name, rows in setting_lines(result).items():
        if not {"gannet", "gannet-all"} <= {row["policy"] for row in rows}:
            continue
        for head, path, scale, better in COMPARED:
            if is_best(path, better)(rows) != "holds":
                best = best_of(path, scale, better, lambda policy: policy != "gannet")(rows)
                found.append(f"{name}: {head}: {tenths(scale * at(own(rows), path))}, the best has {best}")
        if is_half(rows) != "holds":
            written = [f"{own(rows, policy)['flash']['written_bytes'] / 1e6:,.0f}" for policy in ("gannet", "gannet-all")]
            found.append(f"{name}: MB written: {written[0]}, at most half of {written[1]}")
    return found
