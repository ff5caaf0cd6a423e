"""The tables of drives that run programs, from the results of `research/papers/smart-ssd/smart_ssd.py`, `research/papers/smart-ssd/smart_early.py`,
`research/papers/smart-ssd/smart_vary.py` and `research/papers/smart-ssd/offload.py`."""
import statistics

from columns import Column, at, hundredths, largest, signed, tenths, whole


def smart_lines(name, key):
    """Lines of a list beside the rows, each with its own head."""
    return lambda result: {row[key]: [row] for row in result[name]}


SMART_COMPARISONS = [
    Column("paper", largest("paper")),
    Column("modelled", lambda rows: rows[0]["modelled"]),
    Column("error, %", lambda rows: rows[0]["error_percent"], signed),
    Column("what it is", lambda rows: rows[0]["kind"]),
]


def smart_point_lines(result):
    return {f"{row['place']}: {row['x']:g}": [row] for row in result["rows"]}


def smart_part(side, *names):
    return lambda rows: sum(rows[0][side][name] for name in names)


def smart_ratio(name):
    return lambda rows: rows[0]["host"][name] / rows[0]["device"][name]


SMART_POINTS = [
    Column("results", largest("results"), whole),
    *(Column(f"{side}: ms", smart_part(of, "ms")) for side, of in (("drive", "device"), ("host", "host"))),
    Column("host / drive, time", smart_ratio("ms"), hundredths),
    Column("host / drive, energy", smart_ratio("mj"), hundredths),
    Column("drive: I/O", smart_part("device", "io_ms")),
    Column("processor", smart_part("device", "cpu_ms")),
    Column("memory", smart_part("device", "memory_ms")),
    Column("sending", smart_part("device", "sending_ms")),
    Column("host: I/O", smart_part("host", "io_ms")),
    Column("operation", smart_part("host", "cpu_ms", "memory_ms")),
    Column("ranking and query", smart_part("host", "host_ms")),
]


def smart_sweep_columns(result):
    places = result["request_sizes"][0]["factors"]
    costs = [Column(f"{side}, us", largest(name)) for side, name in (("drive", "device_request_us"), ("host", "host_request_us"))]
    return costs + [Column(place if place.startswith("table") else f"figure {place}", largest(f"factors/{place}"), hundredths) for place in places]


def smart_vary_lines(result):
    found = {}
    for row in result["rows"]:
        found.setdefault(row["key"] or "as it is", []).append(row)
    return found


def smart_varied(table, factor, cost):
    def of(rows):
        fits = [row for row in rows if row["table"] == table and (not row["key"] or row["factor"] == factor)]
        return fits[0][f"host_{cost}"] / fits[0][f"drive_{cost}"] if fits else None
    return of


SMART_VARY = [Column(f"{table}: {head}, {'half' if factor < 1 else 'x 1.5'}", smart_varied(table, factor, cost), hundredths)
              for table in ("table 3", "table 4", "table 5") for head, cost in (("time", "ms"), ("energy", "mj")) for factor in (0.5, 1.5)]


def smart_early_lines(result):
    """Of each place, side and way the queries."""
    found = {}
    for row in result["rows"]:
        for side, of in (("drive", "device"), ("host", "host")):
            found.setdefault(f"{row['place']}: {side}, {row['way']}", []).append(row[of] | {"ranked": row["results"]})
    return dict(sorted(found.items()))


def smart_mean(path):
    return lambda rows: statistics.mean(at(row, path) for row in rows)


SMART_EARLY = [
    Column("queries", len, whole), Column("modelled ms", smart_mean("ms")), Column("mJ", smart_mean("mj")), Column("I/O, ms", smart_mean("io_ms")),
    *(Column(head, smart_mean(path), whole) for head, path in (
        ("operators", "counts/operators"), ("accesses to DRAM", "counts/dram_accesses"), ("accesses to SRAM", "counts/sram_accesses"),
        ("pages", "counts/flash_pages"), ("link bytes", "counts/link_bytes"), ("documents ranked", "ranked"))),
]


def smart_early_point_lines(result):
    found = {}
    for row in result["rows"]:
        found.setdefault(f"{row['place']}: {row['x']:g}", []).append(row)
    return found


def smart_early_cost(side, way, cost):
    return lambda rows: next(row[side][cost] for row in rows if row["way"] == way)


def smart_early_ratio(way, cost):
    host, drive = (smart_early_cost(side, way, cost) for side in ("host", "device"))
    return lambda rows: host(rows) / drive(rows)


SMART_EARLY_POINTS = [
    *(Column(f"{side}, {way}: ms", smart_early_cost(of, way, "ms")) for side, of in (("drive", "device"), ("host", "host")) for way in ("plain", "early")),
    *(Column(f"host / drive, {way}: {head}", smart_early_ratio(way, cost), hundredths) for way in ("plain", "early") for head, cost in (("time", "ms"), ("energy", "mj"))),
]


# Drives that run programs, with an index and a log


def offload_plan_lines(result):
    def name(row):
        frames = f"frames of 1/{row['frames']}" if row["frames"] else "cold"
        return f"{row['profile']}, {row['set']}, {frames}"
    return {name(row): [row] for row in result["plans"]}


def offload_good(rows):
    """Good choices in per cent, if there are queries of the kind."""
    return rows[0]["good"] / rows[0]["queries"] * 100 if rows[0]["queries"] else None


def offload_regret(rows):
    """The planner's regret as a part of that of the better constant choice, which may be none."""
    constant = rows[0]["regret_of_better_constant_ms"]
    return rows[0]["regret_ms"] / constant if constant > 0 else None


# What the planner is to reach while no page is in memory: good choices in per cent, and regret as a
# part of the constant's.
LEAST_GOOD, MOST_REGRET = 95, 0.25


def offload_missed(row):
    """The aims that a line of the planner misses."""
    if row["frames"]:
        return []
    good, regret = offload_good([row]), offload_regret([row])
    found = [f"good choices: {good:.1f} %, at least {LEAST_GOOD}"] if good is not None and good < LEAST_GOOD else []
    return found + ([f"regret: {regret:.2f} of the constant's, at most {MOST_REGRET}"] if regret is not None and regret > MOST_REGRET else [])


def offload_reached(rows):
    return None if rows[0]["frames"] else "no" if offload_missed(rows[0]) else "yes"


def missed_aims(result):
    """A line for each aim of the planner that is missed."""
    return [f"{name}: {miss}" for name, [row] in offload_plan_lines(result).items() for miss in offload_missed(row)]


OFFLOAD_PLANS = [
    Column("queries", largest("queries"), whole), Column("drive faster", largest("drive_faster"), whole), Column("drive chosen", largest("drive_chosen"), whole),
    *(Column(f"{head}, ms", largest(f"{name}_ms")) for head, name in (("host", "host"), ("drive", "drive"), ("planner", "chosen"), ("perfect", "perfect"))),
    Column("within 10 %, %", offload_good, tenths), Column("regret / constant's", offload_regret, hundredths),
    Column("reaches both aims", offload_reached),
]


def offload_worst_lines(result):
    rows = sorted((row for row in result["worst"] if row["frames"] == 0), key=lambda row: -row["regret_ms"])[:10]
    return {f"{row['profile']}, {row['set']}, {', '.join(f'{count:,}' for count in row['frequencies'])}": [row] for row in rows}


OFFLOAD_WORST = [Column("chosen", lambda rows: rows[0]["chosen"]), *(
    Column(head, largest(name)) for head, name in (("regret, ms", "regret_ms"), ("host, estimated", "host_before_ms"), ("host", "host_ms"),
                                                   ("drive, estimated", "drive_before_ms"), ("drive", "drive_ms")))]


def offload_square_lines(result):
    """Each of host and drive, plain and early, for the sets that rank."""
    found = {}
    for row in result["rows"]:
        for profile, modelled in row["modelled"].items():
            for side in ("host", "drive"):
                for way in ("plain", "early"):
                    if way in modelled[side]:
                        name = f"{profile}, {row['set']}: {side}, {way}"
                        cost = modelled[side][way] | row["counted"][way]
                        cost["read"] = cost["host_pages" if side == "host" else "pages"]
                        cost["link"] = 4096 * cost["read"] if side == "host" else cost["link_bytes"]
                        cost["accesses"] = cost["dram_accesses"] + cost["sram_accesses"]
                        found.setdefault(name, []).append(cost)
    return dict(sorted(found.items()))


def mean_of(name):
    return lambda rows: statistics.mean(row[name] for row in rows)


OFFLOAD_SQUARE = [
    Column("queries", len, whole), Column("modelled ms", mean_of("ms")), Column("mJ", mean_of("mj")), Column("mJ by counts", mean_of("mj_by_counts")),
    *(Column(head, mean_of(name), whole) for head, name in (("operators", "operators"), ("accesses", "accesses"), ("pages", "read"), ("link bytes", "link"))),
]

OFFLOAD_CORES = (1, 4, 16)


def offload_map_lines(name, early):
    def lines(result):
        found = {}
        for row in result["map"]:
            if row["set"] == name and row["early"] == early and row["cores"] in OFFLOAD_CORES:
                found.setdefault(f"{row['width']:g}, {row['cores']:g}", []).append(row)
        return found
    return lines


def offload_map_columns(result):
    links = sorted({row["link_mb_s"] for row in result["map"]})
    def ratio(link):
        return lambda rows: next(row["host_ms"] / row["drive_ms"] for row in rows if row["link_mb_s"] == link)
    return [Column(f"{link / 1000:g} GB/s", ratio(link), hundredths) for link in links]


OFFLOAD_HEADLINES = {"and": False, "ranked or": True}


def offload_vary_lines(result):
    found = {}
    for row in result["vary"]:
        if OFFLOAD_HEADLINES.get(row["set"]) == row["early"]:
            found.setdefault(row["key"] or "as it is", []).append(row)
    return found


def offload_varied(name, factor, cost):
    def of(rows):
        fits = [row for row in rows if row["set"] == name and (not row["key"] or row["factor"] == factor)]
        return fits[0][f"host_{cost}"] / fits[0][f"drive_{cost}"] if fits else None
    return of


OFFLOAD_VARY = [Column(f"{name}: {head}, {'half' if factor < 1 else 'x 1.5'}", offload_varied(name, factor, cost), hundredths)
                for name in OFFLOAD_HEADLINES for head, cost in (("time", "ms"), ("energy", "mj")) for factor in (0.5, 1.5)]


# Object storage
