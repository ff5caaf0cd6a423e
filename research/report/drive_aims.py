"""The aims of the planner for drives that run programs, by the results of `research/papers/smart-ssd/offload.py`."""

# What the planner is to reach while no page is in memory: good choices in per cent, and regret as a
# part of the constant's.
LEAST_GOOD, MOST_REGRET = 95, 0.25


def offload_good(row):
    """Good choices in per cent, if there are queries of the kind."""
    return row["good"] / row["queries"] * 100 if row["queries"] else None


def offload_regret(row):
    """The planner's regret as a part of that of the better constant choice, which may be none."""
    constant = row["regret_of_better_constant_ms"]
    return row["regret_ms"] / constant if constant > 0 else None


def offload_missed(row):
    """The aims that a line of the planner misses."""
    if row["frames"]:
        return []
    good, regret = offload_good(row), offload_regret(row)
    found = [f"good choices: {good:.1f} %, at least {LEAST_GOOD}"] if good is not None and good < LEAST_GOOD else []
    return found + ([f"regret: {regret:.2f} of the constant's, at most {MOST_REGRET}"] if regret is not None and regret > MOST_REGRET else [])


def missed_aims(result):
    """A line for each aim of the planner that is missed."""
    found = []
    for row in result["plans"]:
        frames = f"frames of 1/{row['frames']}" if row["frames"] else "cold"
        found += [f"{row['profile']}, {row['set']}, {frames}: {miss}" for miss in offload_missed(row)]
    return found
