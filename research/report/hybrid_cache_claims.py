"""What the hybrid cache paper claims (Li et al., 2012), by the result of `research/papers/two-tier-cache/tiers.py`. Times of devices are modelled."""
from claims import Claim, claim_lines, ratio
from published import HYBRID_CACHE
from tier_tables import CHANGES, against, dollars, experiment

POLICIES = {"cblru": "CBLRU", "cbslru": "CBSLRU"}
CHANGE = dict(CHANGES)
# By the head of CHANGES: the place of the paper's figure in HYBRID_CACHE, the claim, its unit, and
# why it is so here; why, with prefixes.
WHOLE_LISTS = "most of it is the prefix: LRU reads and writes whole lists here"
PUBLISHED = {
    "hit ratio, points": (0, "14b", "finds more than LRU", "points", "the fewer queries repeat, the less a cache finds",
                          "blocks of 128 KB waste flash on short lists, and lists that were asked for once are discarded"),
    "response, %": (1, "17", "answers sooner than LRU", "%", WHOLE_LISTS, "whole blocks leave garbage collection nothing to move"),
    "throughput, %": (2, "17", "answers more queries a second than LRU", "%", WHOLE_LISTS, "the mean is that of rates: the largest cache counts most"),
    "erases, %": (3, "19a", "erases fewer blocks than LRU", "%", WHOLE_LISTS, "it writes whole blocks, and T_EV discards lists"),
    "access time, %": (4, "19b", "takes less time a request to the drive than LRU", "%", "LRU's requests have whole lists; see the time of a page",
                       "its requests are larger: blocks in place of prefixes"),
}


def hybrid_cache_claim_lines(result):
    """Of the rows of one log. What is known of the log itself stands beside the rows in a result."""
    logs = {row["log"] for row in result["rows"]}
    known = [{"experiment": "workload"} | about for log, about in result.get("workloads", {}).items() if log in logs]
    return claim_lines(HYBRID_CACHE_CLAIMS)(result | {"rows": [*result["rows"], *known]})


def changed(policy, head, base="lru"):
    """A mean over the capacities, against another policy."""
    def of(rows):
        found = against(base)({"rows": rows}).get(policy)
        return CHANGE[head](found) if found else None
    return of


def gains(policy, label):
    """Claims of a policy against LRU, which keeps whole lists, and against LRU with prefixes. The paper has these: a claim holds
    from half of what it gains."""
    for head, (place, figure, what, unit, why, why_prefixes) in PUBLISHED.items():
        paper = HYBRID_CACHE[policy][place]
        yield Claim(f"figure {figure}: {label} {what}", f"{paper:+.2f} {unit}", changed(policy, head), paper / 2, 0, why, unit)
        yield Claim(f"figure {figure}: {label} {what} with prefixes", "- (its LRU keeps whole lists)", changed(policy, head, "lru-partial"),
                    1 if paper > 0 else -1, 0, why_prefixes, unit)
    paper = HYBRID_CACHE[policy][PUBLISHED["access time, %"][0]]
    yield Claim(f"figure 19b: {label} takes less time a page of the drive than LRU", f"{paper:+.2f} % (of what, it does not say)", changed(policy, "of a page, %"),
                paper / 2, 0, "a page of a large request is cheap, and LRU's are the largest", "%")


def known(figure):
    """A figure of what is known of the log."""
    def of(rows):
        found = next(iter(experiment("workload")({"rows": rows})), None)
        return found and figure(found)
    return of


def most_used(found):
    """The largest share that queries use of the 255 longest lists. A point of a curve is the mean from a rank to twice that."""
    return max(share for rank, share in found["curves"]["utilization_of_longest"] if rank < 256)


def frequent_share(found):
    """The share of the requests for the most frequent hundredth of the terms, or a little fewer of these."""
    frequent = sum(rank * mean for rank, mean in found["curves"]["accesses_by_rank"] if 2 * rank <= found["terms"] / 100)
    return frequent / found["pattern"]["requests"]


# The hit ratio of results, of lists, and of queries that need no disk.
HITS = {"RC": "results", "IC": "lists", "RIC": "queries_without_slow_store"}


def row_of(name, figure, **only):
    """A figure of the row of an experiment with these values."""
    def of(rows):
        fitting = (row for row in experiment(name)({"rows": rows}) if all(row[key] == value for key, value in only.items()))
        found = next(fitting, None)
        return found and figure(found)
    return of


def hits(name, mb):
    return row_of("classes", lambda row: row["hit_ratio"][HITS[name]], classes=name, capacity_mb=mb)


def most_hits(name, *others):
    """The hit ratio to the best of others, at the capacity where that is most."""
    def of(rows):
        sizes = {row["capacity_mb"] for row in experiment("classes")({"rows": rows})}
        return max((hits(name, size)(rows) / max(hits(other, size)(rows) for other in others) for size in sizes), default=None)
    return of


def response(row):
    return row["modelled_response_us"]


def leveled(levels, classes, store):
    return row_of("levels", response, levels=levels, classes=classes, store=store)


def second_level(classes, store):
    """How many times as long a query takes without flash."""
    return ratio(leveled("1LC", classes, store), leveled("2LC", classes, store))


def uncached(millions, store):
    return row_of("uncached", response, documents=millions * 1e6, store=store)


def paid(mb, flash_mb, figure):
    """A figure of the run with so many MB of memory, and of flash to a block."""
    def of(rows):
        fitting = (row for row in experiment("costs")({"rows": rows}) if row["capacity_mb"] == mb and abs(row["flash_bytes"] / 1e6 - flash_mb) < 1)
        found = next(fitting, None)
        return found and figure(found)
    return of


def price(row):
    return dollars("paper")([row])


def access(policy, figure):
    """A figure of the time of a page of the drive so far, after each tenth of the log."""
    return row_of("policies", lambda row: figure([point["modelled_access_us_per_page"] for point in row["points"]]), policy=policy, capacity_mb=5)


SEEKS = "the disk takes a seek for each list, the modelled drive none"
HYBRID_CACHE_CLAIMS = [
    Claim("figure 1: reads are local: the hottest tenth of the pages takes", "- (picture)", known(lambda found: found["pattern"]["reads_of_hottest"][1][1]),
          0.33, 0.1, "of the reads of lists without a cache", "of the reads"),
    Claim("figure 1: reads are random: elsewhere than the last one ended begin", "- (picture)", known(lambda found: found["pattern"]["random"]),
          0.9, 0.5, "a list is one request here", "of the reads"),
    Claim("figure 1: reads skip: of the lists that are asked for are passed over", "- (picture)", known(lambda found: found["pattern"]["pages_skipped"]),
          0.5, 0.1, "how much of a list is used is modelled by Persin's filter", "of the pages"),
    Claim("figure 3a: a part of a list is used: of the 255 longest at most", "- (picture)", known(most_used), 0.25, 0.75,
          "modelled, as above; short lists are used as a whole", "of a list"),
    Claim("figure 3b: few terms are asked for often: a hundredth of them by", "- (picture)", known(frequent_share), 0.33, 0.01,
          "the frequencies are those of the log", "of the requests"),
    Claim("figure 14a: results have more hits than lists", "- (picture)", most_hits("RC", "IC"), 1.05, 1.0,
          "queries repeat less than terms do (at the capacity where it is most)"),
    Claim("figure 14a: both together have the most hits", "- (picture)", most_hits("RIC", "RC", "IC"), 1.05, 1.0,
          "a hit is a query without the disk, and a query needs all of its lists (as above)"),
    Claim("figure 14a: more memory helps lists more than results, 1 to 100 MB", "- (text)", ratio(
        ratio(hits("IC", 100), hits("IC", 1)), ratio(hits("RC", 100), hits("RC", 1))), 1.1, 1.0, "lists gain nothing beyond 10 MB, results gain to the end"),
    Claim("figure 14a: results gain no more in the end, 50 to 100 MB", "- (text)", ratio(hits("RC", 100), hits("RC", 50)), 1.02, 1.2, "they gain little, and to the end"),
    *(claim for policy, label in POLICIES.items() for claim in gains(policy, label)),
    Claim("figure 14b: CBSLRU finds more than CBLRU", "+4.26 points", changed("cbslru", "hit ratio, points", "cblru"), 2.13, 0,
          "its static part, most of flash, is what the first half of the log asked for", "points"),
    Claim("figure 15: with five times the documents a query takes longer, index on the disk", "sharply (text)", ratio(uncached(5, "disk"), uncached(1, "disk")), 1.5, 1.0,
          "a query takes three seeks of 13 ms at any size"),
    Claim("figure 15: with five times the documents a query takes longer, index on a drive", "sharply (text)", ratio(uncached(5, "drive"), uncached(1, "drive")), 1.5, 1.0,
          "lists are five times as long"),
    Claim("figure 15: without a cache an index on a drive gains little: disk to drive", "little (text)", ratio(uncached(5, "disk"), uncached(5, "drive")), 1.5, 3.0, SEEKS),
    Claim("figure 16a: with a cache in memory an index on a drive gains little: disk to drive", "little (text)",
          ratio(leveled("1LC", "RI", "disk"), leveled("1LC", "RI", "drive")), 1.5, 3.0, SEEKS),
    *(Claim(f"figure 16b: two levels {words} are faster than one, index on {store}", paper, second_level(classes, place), 1.1, 1.0, why)
      for words, classes, store, place, paper, why in [
          ("of results", "R", "the disk", "disk", "- (picture)", "a result on flash spares the seeks of its lists, if a query repeats"),
          ("of results and lists", "RI", "the disk", "disk", "- (picture)", "flash spares seeks"),
          ("of results and lists", "RI", "a drive", "drive", "- (not said)", "each write of a block takes 6.5 ms, more than it spares")]),
    Claim("figure 16b: a second level gains more with lists than with results alone", "- (text)", ratio(second_level("RI", "disk"), second_level("R", "disk")), 1.05, 0.95,
          "where many queries repeat results gain as much"),
    Claim("figure 18a: two levels over a disk are faster than one over a drive", "- (picture)", ratio(leveled("1LC", "RI", "drive"), leveled("2LC", "RI", "disk")), 1.1, 1.0, SEEKS),
    *(Claim(f"figure 18b: {less} are no slower than {more}", "- (picture)", ratio(paid(*one, response), paid(*other, response)), 1.0, 1.2, "the sizes are ours")
      for less, one, more, other in [("5 MB with 500 MB of flash", (5, 500), "100 MB without", (100, 0)),
                                     ("2 MB with 200 MB of flash", (2, 200), "5 MB with 100 MB", (5, 100))]),
    *(Claim(f"figure 18b: {less} cost less than {more}", "- (14.5 to 1.9 dollars a GB)", ratio(paid(*one, price), paid(*other, price)), 0.9, 1.0, why)
      for less, one, more, other, why in [
          ("5 MB with 500 MB of flash", (5, 500), "100 MB without", (100, 0), "at the paper's prices"),
          ("2 MB with 200 MB of flash", (2, 200), "5 MB with 100 MB", (5, 100), "100 MB of flash cost more than the 3 MB of memory that they replace")]),
    *(claim for policy, label, why in [
        ("lru", "LRU", "its whole lists fill flash at once"), ("cblru", "CBLRU", "it falls until flash is full, and rises when blocks are erased"),
        ("cbslru", "CBSLRU", "hardly anything is written at first; it rises as writes come")] for claim in [
            Claim(f"figure 19b: the time of a page falls with {label}: end to begin", "- (picture)", access(policy, lambda found: found[-1] / found[0]), 0.95, 1.0, why),
            Claim(f"figure 19b: it ends at a steady value with {label}: end to least", "- (picture)", access(policy, lambda found: found[-1] / min(found)), 1.02, 1.1, why)]),
]
