"""The claims of research/papers/smart-ssd/page.md: see `page_claims.py`. Times and energies are modelled."""
from page_claims import Claim, Proof, about, at_least, at_most, between, exactly, like, spans


def rise(*parts):
    """Milliseconds of the drive that figure 12 takes more from 10 to 100 %."""
    def of(shown):
        few, all_common = (next(row["device"] for row in shown.rows if row["place"] == "12" and row["x"] == x) for x in (10, 100))
        return sum(all_common[part] - few[part] for part in parts)
    return of


def host_to_drive(place, *values):
    """Time of the host to the drive's, at some points of a figure or at all."""
    return lambda shown: [row["host"]["ms"] / row["device"]["ms"] for row in shown.rows if row["place"] == place and (not values or row["x"] in values)]


def changes_of_requests(shown):
    """Per cent by which the factors change with 4, 16 and 64 pages a request."""
    one, *others = shown.result["request_sizes"]
    return [100 * abs(other["factors"][place] / factor - 1) for other in others for place, factor in one["factors"].items()]


def varied(table, cost):
    """The ratios of a table of the paper over all numbers of the profile, half and half again as large."""
    return lambda shown: [row[f"host_{cost}"] / row[f"drive_{cost}"] for row in shown.rows if row["table"] == table and row["key"]]


def lost_energy(shown):
    """Ratios below 1 of all three tables."""
    return [ratio for table in ("table 3", "table 4", "table 5") for ratio in varied(table, "mj")(shown) if ratio < 1]


def by_point(shown):
    """The drive's rows of each point: plain and early."""
    points = {}
    for row in shown.rows:
        points.setdefault((row["place"], row["x"], row["postings"]), {})[row["way"]] = row
    return points.values()


def early_gain(count):
    """How many times less the drive does with early termination, at each point."""
    return lambda shown: [count(point["plain"]["device"]) / count(point["early"]["device"]) for point in by_point(shown)]


def counted(name):
    return lambda side: side["counts"][name]


def spared_pages(shown):
    return [max(0, 100 * (1 - of("early") / of("plain"))) for point in by_point(shown)
            for of in [lambda way, point=point: point[way]["device"]["counts"]["flash_pages"]]]


def early_ratio(cost, containing=""):
    """Host to drive, both with early termination."""
    return lambda shown: shown.column(f"host / drive, early: {'time' if cost == 'ms' else 'energy'}", containing)


def pages_at(place, x):
    return lambda shown: next(row["device"]["counts"]["flash_pages"] for row in shown.rows
                              if row["place"] == place and row["x"] == x and row["way"] == "early")


def bytes_to_32(shown):
    """How many times as wide the paper's postings are as those of Gannet's lists."""
    asked = [row for row in shown.rows if row["set"] == "ranked or"]
    return 32 * sum(sum(row["frequencies"]) for row in asked) / (4096 * sum(row["list_pages"] for row in asked))


def good(kind, memory="cold"):
    return lambda shown: shown.column("within 10 %, %", f"{kind}, {memory}")


def regret(kind):
    return lambda shown: shown.column("regret / constant's", f"{kind}, cold")


def times_less(what):
    """Plain to early unions in the drive, for each profile."""
    profiles = ("smart-ssd-2016", "smart-pcie4", "smart-fast")
    return lambda shown: [shown.at(f"{name}, ranked or: drive, plain", what) / shown.at(f"{name}, ranked or: drive, early", what) for name in profiles]


def host_wins(profile, what="modelled ms", kind="ranked or"):
    return lambda shown: shown.at(f"{profile}, {kind}: drive, early", what) / shown.at(f"{profile}, {kind}: host, early", what)


def mapped(width, cores):
    """Host to drive at this width of a posting and with so many cores, over all links."""
    return lambda shown: shown.line(f"{width}, {cores}")


def pays_then_not(shown, cores, wide, narrow):
    """The least ratio of the wider postings, and the largest of the narrower."""
    return min(shown.line(f"{wide}, {cores}")), max(shown.line(f"{narrow}, {cores}"))


def stops_between(*steps):
    """For each (cores, width that pays, width that does not): both ratios."""
    return lambda shown: tuple(figure for cores, wide, narrow in steps for figure in pays_then_not(shown, cores, wide, narrow))


def pay_and_not(figures):
    """Of pairs, the first is 1 or more and the second less."""
    return all(figure >= 1 for figure in figures[::2]) and all(figure < 1 for figure in figures[1::2])


def estimates(kind, share):
    """Estimated to counted operators; this share of the queries has less."""
    def of(shown):
        asked = [(row["modelled"]["smart-ssd-2016"]["estimated"], row["counted"]) for row in shown.rows if row["set"] == kind]
        ratios = sorted(estimate["operators"] / found[estimate["way"]]["operators"] for estimate, found in asked)
        return ratios[int(len(ratios) * share)]
    return of


def time_of(kind):
    """Host to drive as the profile is, and over all numbers half and half again as large."""
    return lambda shown: [figure for factor in ("half", "x 1.5") for figure in shown.column(f"{kind}: time, {factor}")]


SMART, EARLY, POINTS = "smart-points", "smart-early", "smart-early-points"
OFFLOAD = [
    Proof("agree within 2 %", "research/lab/src/smart/tests.rs", "(0.98..1.02).contains(&ratio)"),
    Claim("change by at most 4 %", "smart-ssd", "smart-requests", changes_of_requests, at_most(4), "%"),
    Claim("the drive takes 307 ms more: 118 to send the results", "smart-ssd", SMART, lambda shown: (rise("ms")(shown), rise("sending_ms")(shown)), spans(118, 307, 0.01), "ms"),
    Claim("49 to rank them, 101 in memory and 39 in the processor", "smart-ssd", SMART,
          lambda shown: tuple(rise(part)(shown) for part in ("host_ms", "memory_ms", "cpu_ms")), spans(39, 101, 0.01), "ms"),
    Claim("The drive loses by 7 %", "smart-ssd", SMART, host_to_drive("12", 100), about(0.93, 0.01), "of the drive's time"),
    Claim("up to 10 %, and with ranking at any ratio, it wins", "smart-ssd", SMART,
          lambda shown: host_to_drive("12", 0.1, 1, 10)(shown) + host_to_drive("14")(shown), at_least(1), "of the drive's time"),
    Claim("where the model agrees (1.6 times less, the paper 2.1)", "smart-ssd", "smart-comparisons", lambda shown: tuple(shown.at("table 5, host / drive, energy", head) for head in ("modelled", "paper")),
          like(1.6, 2.1, share=0.02), "times"),
    Claim("with eight lists the drive takes three times as long as the host", "smart-ssd", SMART,
          lambda shown: 1 / host_to_drive("20", 8)(shown)[0], about(3.1), "times"),
    Claim("intersection wins by 1.7 to 4.4 times", "smart-sensitivity", "smart-vary", varied("table 3", "ms"), spans(1.7, 4.4), "times"),
    Claim("difference by 2.0 to 5.5", "smart-sensitivity", "smart-vary", varied("table 4", "ms"), spans(2.0, 5.5), "times"),
    Claim("ranked union loses, 0.35 to 0.68", "smart-sensitivity", "smart-vary", varied("table 5", "ms"), spans(0.35, 0.68), "times"),
    Claim("ranked union loses it with half of the host's watts (0.80)", "smart-sensitivity", "smart-vary", lost_energy, lambda found: len(found) == 1 and about(0.8)(found), "times"),
    Claim("in time by 2.0 to 22 times", "smart-early", POINTS, early_gain(lambda side: side["ms"]), spans(2.0, 22), "times"),
    Claim("Operators are fewer by 1.6 to 32 times", "smart-early", EARLY, early_gain(counted("operators")), spans(1.6, 32), "times"),
    Claim("accesses to DRAM by 6.5 to 121", "smart-early", EARLY, early_gain(counted("dram_accesses")), spans(6.5, 121), "times"),
    Claim("It spares 0 to 96 % of the pages", "smart-early", EARLY, spared_pages, spans(0, 96), "%"),
    Claim("the drive wins time at most points, by up to 2.8 times", "smart-early", POINTS, lambda shown: max(early_ratio("ms")(shown)), about(2.8), "times"),
    Claim("for the lists of table 5, by 1.7 to 2.1", "smart-early", POINTS, early_ratio("ms", "table 5"), spans(1.7, 2.1), "times"),
    Claim("The drive loses with six lists (0.95) and eight (0.72)", "smart-early", POINTS,
          lambda shown: tuple(shown.at(f"20: {lists}", "host / drive, early: time") for lists in (6, 8)), spans(0.72, 0.95, 0.01), "times"),
    Claim("It loses at skew 10,000 (0.93), where 114 pages are read", "smart-early", POINTS, lambda shown: (shown.at("union skew: 10000", "host / drive, early: time"), pages_at("union skew", 10_000)(shown)),
          like(0.93, 114, share=0.01), "of the drive's time, and pages"),
    Claim("by 2.2 to 8.6 times", "smart-early", POINTS, early_ratio("mj"), spans(2.2, 8.6), "times"),
    Claim("about a thirtieth of the bytes", "offload", "", bytes_to_32, about(30, 0.15), "times as wide"),
    Claim("540,000 passages of Wikipedia, an index of 410 MB", "offload", "", lambda shown: shown.settings["index_bytes"] / 1e6, about(410, 0.01), "MB"),
    Claim("All answers are those of the engine", "offload", "", lambda shown: 100 * sum(row["agrees"] for row in shown.rows) / len(shown.rows), exactly(100), "%"),
    Claim("Cold, 95 % of the choices are good", "offload", "offload-plans", lambda shown: good("and")(shown), at_least(94.7), "% of intersections"),
    Claim("the regret is at most a quarter on each profile for intersections", "offload", "offload-plans", regret("and"), at_most(0.25), "of the constant's"),
    Claim("but for the best ten on `smart-fast` (94.7 %)", "offload", "offload-plans", lambda shown: shown.at("smart-fast, ranked and, cold", "within 10 %, %"), about(94.7, 0.001), "%"),
    Claim("unions miss both: 91.8 %, and 0.46 of the constant's", "offload", "offload-plans", lambda shown: tuple(shown.at("smart-fast, ranked or, cold", head) for head in ("within 10 %, %", "regret / constant's")), like(91.8, 0.46, share=0.01),
          "% and of the constant's"),
    Claim("Good choices are 90 to 100 % then", "offload", "offload-plans", good("", "frames"), spans(90, 100, 0.01), "%"),
    Claim("0.73 to 1.29 of what is counted", "offload", "", lambda shown: [estimates("and", share)(shown) for share in (0.1, 0.9)], spans(0.73, 1.29, 0.01), "times"),
    Claim("those of a union at 0.58 to 2.75", "offload", "", lambda shown: [estimates("ranked or", share)(shown) for share in (0.1, 0.9)], spans(0.58, 2.75, 0.01), "times"),
    Claim("6 times less time on each profile", "offload", "offload-square", times_less("modelled ms"), about(6, 0.05), "times"),
    Claim("by 4.5 times with `smart-ssd-2016`", "offload", "offload-square", host_wins("smart-ssd-2016"), about(4.5), "times"),
    Claim("2.1 with `smart-pcie4`, and hardly with `smart-fast`", "offload", "offload-square",
          lambda shown: tuple(host_wins(name)(shown) for name in ("smart-pcie4", "smart-fast")), spans(1.03, 2.1), "times"),
    Claim("Offload stops paying between 4 and 2 bytes a posting with one core, between 2 and 1 with four", "offload", "offload-map-and",
          stops_between((1, 4, 2), (4, 2, 1)), pay_and_not, "times: each wider, then narrower"),
    Claim("and not at all with sixteen", "offload", "offload-map-and", mapped(1, 16), at_least(1), "times"),
    Claim("with one core as in the profile, lose (0.47)", "offload", "offload-vary", lambda shown: shown.at("as it is", "and: time, half"), about(0.47, 0.01), "times"),
    Claim("With one core it never pays; with four it stops between 8 and 4 bytes", "offload", "offload-map-or",
          lambda shown: (*pays_then_not(shown, 4, 8, 4), max(mapped(32, 1)(shown))), lambda found: pay_and_not(found[:2]) and found[2] < 1,
          "times: wider, narrower, the widest with one core"),
    Claim("with sixteen it pays at any width, by computing rather than by moving less", "offload", "offload-map-or", mapped(1, 16), at_least(1), "times"),
    Claim("With one core offload stops paying between 32 and 16 bytes, with four between 8 and 4", "offload", "offload-map-or-early",
          stops_between((1, 32, 16), (4, 8, 4)), pay_and_not, "times: each wider, then narrower"),
    Claim("With sixteen it pays at any width, at narrow ones by less than without bounds", "offload", "offload-map-or-early", mapped(1, 16), between(1, 2.59), "times"),
    Claim("No number changes who wins time. The host's price", "offload", "offload-vary", lambda shown: time_of("and")(shown) + time_of("ranked or")(shown), at_most(0.99), "times"),
]
