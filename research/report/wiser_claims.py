"""What the paper of WiSER claims (He et al., 2020), by the result of `research/papers/wiser/wiser.py`.

Where the paper says *up to*, the best level is compared, and about half of the gain must be there.
"""
import statistics

from claims import NOT_TESTED, Claim, claim_lines, factor
from columns import at
from wiser_tables import PAGE, bitmap_saves, empty_share, list_bytes, one_page, with_filters

LEVELS = [10, 100, 1000, 10000, 100000]
# What the paper says of its filters, in per cent, and how many points another share may be away to
# be called the same.
EMPTY, SAVED, NEAR = 32, 29, 6


def row_of(rows, case, name, memory="none"):
    return next((row for row in rows if (row.get("case"), row.get("set"), row.get("memory")) == (case, name, memory)), None)


def part_bytes(*parts):
    return lambda row: sum(at(row, f"parts/{part}/pages") for part in parts) * PAGE


def to(other, case, figure, names, of=max):
    """How many times as much `other` has as `case`, of the set where that is most."""
    def ratio(rows):
        pairs = [(row_of(rows, other, name), row_of(rows, case, name)) for name in names]
        ratios = [figure(one) / figure(two) for one, two in pairs if one and two and figure(two)]
        return of(ratios) if ratios else None
    return ratio


def sets(kind, levels=LEVELS):
    return [f"{kind}-{level}" for level in levels]


def less(other, case, names):
    """By how many per cent `case` reads less than `other`, where that is least."""
    ratio = to(other, case, list_bytes, names, min)
    return lambda rows: None if (found := ratio(rows)) is None else 100 * (1 - 1 / found)


def about(figure):
    """A figure of an index."""
    def of(rows):
        index = next((row for row in rows if row.get("kind") == "index"), None)
        return index and figure([index])
    return of


def positive(rows):
    row = row_of(rows, "filters without the rule", "web-phrase")
    return 100 * row["filter_passed"] / row["filter_tests"] if row and row["filter_tests"] else None


def saved_to_filters(name):
    """Bytes of positions that filters save to the bytes that are read of filters."""
    def of(rows):
        asked, without = (row_of(rows, case, name) for case in ("published", "no filters"))
        if not (asked and without):
            return None
        read = part_bytes("filters")(asked)
        return (part_bytes("positions")(without) - part_bytes("positions")(asked)) / read if read else NOT_TESTED
    return of


def if_prefetched(case, names, figure):
    """A figure of the sets of which a query prefetched."""
    def of(rows):
        asked = [row for name in names if (row := row_of(rows, case, name))]
        fired = [row["set"] for row in asked if row["prefetching"]]
        return figure(fired)(rows) if fired else NOT_TESTED if asked else None
    return of


def fewer_reads(case):
    return if_prefetched(case, sets("term"), lambda names: to("no prefetch", case, lambda row: row["reads_per_query"], names))


def no_more_bytes(case):
    return if_prefetched(case, [*sets("term"), *sets("and")], lambda names: to(case, "no prefetch", list_bytes, names))


def away(share, paper):
    """By how many points a share of an index is away from the paper's."""
    return lambda rows: abs(share(rows) - paper)


def space_of_texts(rows):
    pair = [row_of(rows, case, "and-100") for case in ("published", "documents in groups")]
    return None if None in pair else pair[0]["index_bytes"]["texts"] / pair[1]["index_bytes"]["texts"]


def modelled(what):
    return lambda row: row[f"modelled_us_{what}"]


PER_CENT, POINTS = "%", "points away"
WISER = [
    factor("figure 7: one word: up to so many times fewer bytes of lists than Elasticsearch", 2.9, to(
        "elasticsearch", "published", list_bytes, sets("term")), "three places become one, and entries are in memory"),
    Claim("the same by grouping alone, entries in memory in both", "-", to("no grouping", "published", list_bytes, sets("term")), 1.5, 1.0,
          "the paper does not part grouping from its Term Map in memory"),
    Claim("figure 7: one word of level 100,000: no more than Elasticsearch", "about 1", to(
        "published", "elasticsearch", list_bytes, sets("term", [100000])), 1.05, 1.2, "the list is long whatever lies beside it"),
    Claim("figure 8: two words up to level 1,000: fewer bytes", "17 to 51 %", less("elasticsearch", "published", sets("and", [10, 100, 1000])),
          17.0, 0.0, "as for one word (the level where it is least)", PER_CENT),
    Claim("figure 8: read-ahead of 128 KiB reads many times more", "-", to(
        "elasticsearch, read-ahead", "elasticsearch", list_bytes, sets("and", [10, 100, 1000])), 2.0, 1.0, "most of 128 KiB belongs to other lists"),
    factor("figure 9: phrases: filters read up to so many times less", 3.2, to("no filters", "published", list_bytes, sets("phrase")),
           "the lists of the popular word, and offsets, are read all the same (the level where filters save most)"),
    Claim("figure 10: filters read up to so many times fewer positions", "significantly", to(
        "no filters", "published", part_bytes("positions"), sets("phrase")), 1.5, 1.0, "the level where they save most"),
    Claim("figure 9: filters never read more", "-", to("published", "no filters", list_bytes, sets("phrase")), 1.0, 1.2,
          "the level where they do worst: grouped filters part what lies together"),
    Claim("plain filters, of the first word alone, read more than none", "more", to("plain filters", "no filters", list_bytes, sets("phrase")), 1.1, 1.0,
          "nine bytes a posting, positions two or three"),
    Claim("the cost rule reads less than filters that are always asked", "less", to("filters without the rule", "published", list_bytes, sets("phrase")),
          1.05, 0.98, "the level where it saves most"),
    *(Claim(f"figure 10: bytes of positions saved to bytes of filters read, level {level:,}", "many", saved_to_filters(f"phrase-{level}"), 2.0, 1.0,
            "of each pair the smaller filters are read, and frequent words have many; not tested where the rule asks none") for level in LEVELS),
    Claim("12 % of the tests of real phrases are positive", "12 %", positive, 20.0, 50.0,
          "the log is of TREC, its phrases are all its queries of several words", PER_CENT),
    Claim("figure 11: 32 % of the filters are empty", f"{EMPTY} %", about(away(empty_share, EMPTY)), NEAR, EMPTY,
          "the table of space has the share; stop words have none, and nothing is known across punctuation", POINTS),
    Claim("figure 11: the bitmap saves 29 %", f"{SAVED} %", about(away(bitmap_saves, SAVED)), NEAR, SAVED, "more filters are empty, and these take a bit", POINTS),
    Claim("filters make the index half as large again", "1.50", about(with_filters), 1.6, 2.5, "18 bytes a posting less the empty ones"),
    Claim("99 % of the lists fit into a block", "99 %", about(one_page), 98.0, 90.0, "with offsets and filters", PER_CENT),
    Claim("adaptive prefetch takes fewer reads for long lists", "-", fewer_reads("published"), 1.1, 1.0,
          "few queries have zones that all have 128 KiB: the paper has six million documents"),
    Claim("the same with a threshold scaled to the documents", "-", fewer_reads("scaled prefetch"), 1.1, 1.0, "the level where it saves most; segments of 32 KiB"),
    Claim("adaptive prefetch with a threshold scaled to the documents reads no more bytes", "somewhat more", no_more_bytes("scaled prefetch"), 1.05, 1.5,
          "of two words the longer list is read whole, not where the shorter one has documents"),
    factor("figure 12: documents: so many times fewer bytes than groups of 16 KiB", 1.7, to(
        "documents in groups", "published", part_bytes("texts"), sets("and", [100])), "by how many documents a group of 16 KiB has"),
    Claim("figure 12: for so much more space", "1.25", space_of_texts, 1.3, 2.0, "small documents compress badly alone, and alignment leaves holes"),
    Claim("alignment reads fewer bytes of documents", "-", to("no alignment", "published", part_bytes("texts"), sets("and", [100])), 1.05, 1.0,
          "a document that crosses a page costs a second one"),
    factor("figure 14: one word: medians up to so many times shorter, against Elasticsearch's default", 16, to(
        "elasticsearch, read-ahead", "published", modelled("p50"), sets("term")), "modelled time of the drive alone, without program and network; texts of several pages are read page by page, as from a mapped file"),
    Claim("figure 14: tails so many times shorter, the median of the levels", "up to 11", to(
        "elasticsearch, read-ahead", "published", modelled("p99"), sets("term"), statistics.median), 6.0, 1.0,
          "as above; of 100 queries or fewer the tail is the slowest one"),
    factor("figure 17: phrases: filters make medians up to so many times shorter", 3.2, to("no filters", "published", modelled("p50"), sets("phrase")),
          "modelled time of the drive alone"),
]


# Memory of the whole engines: their index divided by this, where it is not varied.
SHARE = 16
RATE, BYTES, MEDIAN, TAIL = (lambda row: row["qps"], lambda row: row["bytes_read_per_query"]["os"], lambda row: row["latency_us_p50"],
                             lambda row: row["latency_us_p99"])
# Lucene stands for Elasticsearch, which asks it.
WISER_ENGINE, NO_FILTERS, ELASTICSEARCH = "wiser", "wiser-base", "lucene"


def asked(rows, engine, name, share, figure):
    """The median of the runs of an engine, or None."""
    found = [figure(row) for row in rows if "qps" in row and (row["engine"], row["set"], row["share"]) == (engine, name, share)]
    return statistics.median(found) if found else None


def engine_to(one, other, figure, names, of=max, shares=(SHARE, SHARE)):
    """How many times as much one engine has as another, of the sets as `of` says."""
    def ratio(rows):
        pairs = [(asked(rows, one, name, shares[0], figure), asked(rows, other, name, shares[1], figure)) for name in names]
        ratios = [first / second for first, second in pairs if first is not None and second]
        return of(ratios) if ratios else None
    return ratio


def by_filters_in_any_memory(rows):
    """The most that filters bring to the rate of a phrase, by memory."""
    shares = {row["share"] for row in rows if "qps" in row and row["set"] == "phrase-1000"}
    ratios = [engine_to(WISER_ENGINE, NO_FILTERS, RATE, ["phrase-1000"], shares=(share, share))(rows) for share in shares]
    return max((ratio for ratio in ratios if ratio), default=None)


PLACES = "WiSER's way is on Gannet's storage here, and no engine is behind a network"
FEW_POSITIONS = "filters are read besides, and positions of short documents are few"
WISER_ENGINES = [
    factor("figure 13: one word: up to so many times Elasticsearch's queries a second", 2.5, engine_to(WISER_ENGINE, ELASTICSEARCH, RATE, sets("term")),
           PLACES),
    Claim("figure 13: one word of level 100,000: somewhat slower than Elasticsearch", "0.86", engine_to(WISER_ENGINE, ELASTICSEARCH, RATE, sets("term", [100000])),
          1.0, 1.25, "every match is scored; Lucene leaves out blocks that cannot be among the best"),
    factor("figure 14: one word: medians up to so many times shorter", 16, engine_to(ELASTICSEARCH, WISER_ENGINE, MEDIAN, sets("term")), PLACES),
    factor("figure 14: tails up to so many times shorter", 11, engine_to(ELASTICSEARCH, WISER_ENGINE, TAIL, sets("term")), PLACES),
    factor("figure 15: two words up to level 1,000: so many times Elasticsearch's queries a second, the median of the levels", (1.5, 2.6),
           engine_to(WISER_ENGINE, ELASTICSEARCH, RATE, sets("and", [10, 100, 1000]), statistics.median), PLACES),
    factor("figure 16: phrases: filters bring so many times the queries a second, the median of the levels", (1.3, 2.7),
           engine_to(WISER_ENGINE, NO_FILTERS, RATE, sets("phrase"), statistics.median), FEW_POSITIONS),
    factor("figure 17: phrases: filters make medians up to so many times shorter", 3.2, engine_to(NO_FILTERS, WISER_ENGINE, MEDIAN, sets("phrase")), FEW_POSITIONS),
    factor("figure 18: the log's single words: so many times Elasticsearch's queries a second", 2.2, engine_to(WISER_ENGINE, ELASTICSEARCH, RATE, ["web-term"]),
           "the log is of TREC"),
    factor("figure 18: the log's queries of several words", 1.6, engine_to(WISER_ENGINE, ELASTICSEARCH, RATE, ["web-and"]), "the log is of TREC"),
    factor("figure 18: the log's phrases", 1.6, engine_to(WISER_ENGINE, ELASTICSEARCH, RATE, ["web-phrase"]), "the log is of TREC"),
    Claim("figure 19: with a small part of Elasticsearch's memory WiSER is faster, but for phrases", "with a 64th", engine_to(
        WISER_ENGINE, ELASTICSEARCH, RATE, ["web-all", "and-1000", "term-10000", "term-100"], min, (SHARE, 1)), 1.0, 0.67,
          "with a sixteenth here, the set where it does worst; of the whole log every match is scored"),
    factor("figure 19: phrases: filters bring up to so many times the queries a second", 1.4, by_filters_in_any_memory, "one level of phrases, by memory"),
    Claim("figure 3: with a sixteenth of the memory Elasticsearch reads so many times as much", "many", engine_to(
        ELASTICSEARCH, ELASTICSEARCH, BYTES, ["web-all"], shares=(SHARE, 1)), 2.0, 1.0, "the web log; with all of it in memory nothing is read"),
    Claim("figure 3: WiSER reads less with a sixteenth of its index as memory", "less", engine_to(WISER_ENGINE, ELASTICSEARCH, BYTES, ["web-all"]), 0.67, 1.0,
          "the web log"),
]


wiser_claim_lines = claim_lines(WISER)
wiser_engine_lines = claim_lines(WISER_ENGINES)
