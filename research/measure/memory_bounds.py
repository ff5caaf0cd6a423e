"""How much a command may hold at most above its memory budget, and what it breaks of that."""
MIB = 1 << 20

WANTED_MIB, ALLOWED_MIB = 32, 64
# The exit code of what the command rejects: a document or a query that needs more memory than the
# budget has.
REJECTED = 1


def missed_aims(result):
    """A line for each command that broke a bound."""
    return [f"{told(row)}: {'; '.join(broken(row))}" for row in result["rows"] if broken(row)]


def told(row):
    """A command of a case in words."""
    case = row["case"]
    return f"{row['operation']}, {case['corpus']}, {case['memory_mib']} MiB, {case['backend']}, threads {case['threads']}"


def broken(row):
    """The bounds that a row breaks."""
    found, excess = [], row.get("excess_bytes")
    if excess is not None and excess > WANTED_MIB * MIB:
        bound = ALLOWED_MIB if excess > ALLOWED_MIB * MIB else WANTED_MIB
        found.append(f"{excess / MIB:.1f} MiB above the budget, more than {bound}")
    if row["killed"]:
        found.append("killed")
    elif row["timed_out"]:
        found.append("took too long")
    elif row.get("exit_code") not in (0, REJECTED):
        found.append(f"ended with {row.get('exit_code')}")
    elif not row.get("looked_at_all", True):
        found.append("ended before it had looked at all documents")
    return found
