"""The claims of the pages below docs/experiments: see `page_claims.py`."""
import statistics

from page_claims import Claim, Proof, about, at_least, at_most, between, exactly, like, spans
from user_claims import ALL_CORPORA, MEMORY, MIB, SIXTEENTH, beyond, documents, excess, index_to_least, seconds_to_tantivy


def killed(shown):
    return sum(row["killed"] for row in shown.rows)


def cases(corpus):
    return lambda shown: len({str(row["case"]) for row in shown.rows if row["case"]["corpus"] == corpus})


def beyond_aim(shown):
    """MiB above the budget of the commands that missed the aim."""
    return sorted(above for above in excess(shown) if above > 32)


PAGE_OF_MEMORY = [
    Claim("One command misses the aim of 32", "memory-twentieth", MEMORY, beyond, exactly(1), "commands"),
    Claim("indexing the Linux sources with 8 threads, `pread` and 32 MiB takes 33.2 more than the budget", "memory-twentieth", MEMORY, beyond_aim, like(33.2, share=0.002), "MiB"),
    Claim("Of `passages8` five of 30 cases were run", "memory-twentieth", MEMORY, cases("passages8"), exactly(5), "cases"),
    Claim("Nothing was killed", "memory-full", MEMORY, killed, exactly(0), "killed"),
    Claim("Two commands missed the aim of 32 MiB", "memory-full", MEMORY, beyond, exactly(2), "commands"),
    Claim("+38.7 MiB with 64 MiB, +39.4 with 32", "memory-full", MEMORY, lambda shown: tuple(beyond_aim(shown)), like(38.7, 39.4, share=0.002), "MiB"),
    Claim("Eight times the passages (3.6 GB, 4.3 million documents) with 64 MiB", "memory-eightfold", MEMORY, documents("passages8"), about(4.3e6, 0.01), "documents"),
]


def repeats(of):
    """Per cent between the least and the most instructions of a program's runs, in all four files."""
    def spread(shown):
        runs = {}
        for file in ("instructions", "instructions-one-unit", "instructions-ranking", "instructions-rooms"):
            for row in shown.other(file).rows:
                if row["of"].startswith(of):
                    runs.setdefault((file, row["program"], row["of"]), []).append(row["instructions"])
        return [100 * (max(counts) / min(counts) - 1) for counts in runs.values()]
    return spread


def rooms_to_now(shown):
    """Per cent more instructions than in the table above, by query and document."""
    now = shown.other("instructions", "instructions")
    return [100 * (shown.at(line, "rooms") / now.at(line, "now") - 1) for line in shown.lines()]


INSTRUCTIONS = [
    Claim("counts of queries repeat to 3 %", "instructions", "", repeats("query"), at_most(3), "% between runs, all four files"),
    Claim("Counts of documents repeat to 1 %", "instructions", "", repeats("document"), at_most(1), "% between runs, all four files"),
    Claim("As one unit, all are within 1 %", "instructions-one-unit", "instructions", lambda shown: shown.column("now: more, %"), between(-1, 1), "% more"),
    Claim("a phrase takes 4.5 % less than in the table above", "instructions-rooms", "instructions", lambda shown: min(rooms_to_now(shown)), about(-4.5), "% more"),
    Claim("nothing takes more than 0.1 % more", "instructions-rooms", "instructions", lambda shown: max(rooms_to_now(shown)), at_most(0.1), "% more"),
]


def saved(containing):
    """The share of instructions that both paths save, in sets with these names."""
    return lambda shown: [1 - 1 / (1 + more / 100) for more in shown.column("instructions: more, %", containing)]


RANKING = [
    Claim("The table of sums is worth a third of an OR with exact totals", "rank-paths-whole", "costs",
          lambda shown: [share for name in ("or-500+", "or-5000+") for share in saved(name)(shown)], about(1 / 3), "of the instructions"),
    Claim("is worth a tenth of two words in 10,000 of all passages", "rank-paths-whole", "costs", saved("and-500`"), about(0.1, 0.1), "of the instructions"),
    Claim("the table costs a web log 3 to 6 %", "rank-paths-whole", "costs",
          lambda shown: [-shown.at("passages, `web`", "instructions: more, %"), -shown.other("ranking-whole", "costs").at("passages, `web`", "instructions: more, %")],
          spans(3, 6, 0.1), "%"),
    Claim("Queries that are given none take up to 3.5 % more since", "given-statistics", "costs", lambda shown: max(shown.column("instructions: more, %")), about(3.5), "% more"),
]


def index_to_memory(shown):
    """How many times the memory of 16 MiB an index is, with that of Linux sources."""
    rows = shown.rows + shown.other("mechanisms-linux").rows
    return [row["index"] / (16 * MIB) for row in rows if row["program"] == "kept"]


def without(program, figure):
    """Per cent more without a mechanism, by corpus."""
    def of(shown):
        rows = shown.rows + shown.other("mechanisms-linux").rows
        kept = {row["corpus"]: figure(row) for row in rows if row["program"] == "kept"}
        return [100 * (figure(row) / kept[row["corpus"]] - 1) for row in rows if row["program"] == program]
    return of


def written(row):
    return row["written"]


def phrase_reads(row):
    return row["queries"]["phrase"]["reads"]


def larger(shown):
    """Per cent that an index is larger with the tree of frequent words, where it is."""
    return [100 * (1 / (1 + more / 100) - 1) for more in without("no-frequent", lambda row: row["index"])(shown) if more < 0]


def beside_writing(threads, head):
    """A figure of queries beside writing: with the rests of a flush, and without."""
    return lambda shown: [shown.at(f"{name}: {threads} that ask, beside writing", head) for name in ("as it is", "no rests")]


def p99_shorter(shown):
    return tuple(rests / kept for threads in (1, 2) for kept, rests in [beside_writing(threads, "p99 us")(shown)])


def p99_without_rests(shown):
    """To that of asking alone."""
    names = [[f"no rests: {threads} that ask, {when}" for when in ("beside writing", "alone")] for threads in (1, 2)]
    return tuple(shown.at(beside, "p99 us") / shown.at(alone, "p99 us") for beside, alone in names)


def slowest_ms(shown):
    """With the rests of a flush, and without; each from the least."""
    pairs = [beside_writing(threads, "max us")(shown) for threads in (2, 1)]
    kept, (one, other) = [kept / 1000 for kept, _ in pairs], sorted(none / 1000 for _, none in pairs)
    return (*kept, one, other)


def rate_lost(shown):
    return [100 * (1 - kept / rests) for threads in (1, 2) for kept, rests in [beside_writing(threads, "documents/s")(shown)]]


def alike_to_kept(figure):
    """What the order by common words gives, to the order kept, in both files."""
    return lambda shown: [figure(row["alike"]) / figure(row["kept"]) for row in shown.rows + shown.other("mechanisms-order-shuffled").rows]


MECHANISMS = [
    Claim("5 to 8 % of the bytes written", "mechanisms", "mechanisms", without("two-levels", written), spans(5, 8, 0.05), "% more without"),
    Claim("where the index is 14 to 27 times the memory", "mechanisms", "mechanisms", index_to_memory, spans(14, 27), "times"),
    Claim("up to 3 % of the bytes written", "mechanisms", "mechanisms", without("no-frequent", written), between(-0.1, 3.3), "% more without"),
    Claim("6 to 13 % of the reads of phrases", "mechanisms", "mechanisms", without("no-frequent", phrase_reads), spans(6, 13), "% more without"),
    Claim("the index is 1 to 3 % larger on two of three corpora", "mechanisms", "mechanisms", larger,
          lambda found: len(found) == 2 and all(0.9 < more < 3 for more in found), "%"),
    Claim("a p99 2.2 times shorter with one thread that asks and 1.3 times with two", "duty", "during", p99_shorter, like(2.2, 1.3), "times"),
    Claim("Without rests it is 4.2 times with one thread that asks and 3.4 times with two", "duty", "during", p99_without_rests, like(4.2, 3.4, share=0.02), "times"),
    Claim("the slowest queries take 15 to 16 ms with them, and 6 to 7 ms without", "duty", "during", slowest_ms, like(15.4, 15.9, 6.2, 7.0, share=0.02), "ms"),
    Claim("for 42 to 53 % of the rate of writing meanwhile", "duty", "during", rate_lost, spans(42, 53, 0.02), "% less"),
    Claim("0.4 to 1.3 % of the index", "mechanisms-order", "mechanisms-order", lambda shown: [100 * (1 - share) for share in alike_to_kept(lambda row: row["index"])(shown)],
          spans(0.4, 1.3, 0.12), "%"),
    Claim("up to 11 % of the CPU of a union", "mechanisms-order", "mechanisms-order",
          lambda shown: max(100 * (1 - share) for share in alike_to_kept(lambda row: row["queries"]["or"]["warm_cpu_us"])(shown)), about(11), "%"),
    Claim("for 1.5 to 2.8 times the CPU of a rebuild", "mechanisms-order", "mechanisms-order", alike_to_kept(lambda row: row["cpu"]), spans(1.5, 2.8), "times"),
    Claim("phrases of articles read 46 % more", "mechanisms-order", "mechanisms-order", lambda shown: 100 * (alike_to_kept(phrase_reads)(shown)[1] - 1), about(46), "%"),
]


def by_pruning(name):
    """Per cent of the bytes that pruning saves, and of the reads that it adds."""
    def of(shown):
        with_it, without = ([shown.at(line, head) for head in ("KB a query", "reads")] for line in (f"`{name}`", f"`{name}`, without pruning"))
        return 100 * (1 - with_it[0] / without[0]), 100 * (with_it[1] / without[1] - 1)
    return of


def mix_by_pruning(shown):
    return [by_pruning("mix")(of)[1] for of in (shown, shown.other("paper-articles", "paper-switches"))]


def both_leasts(shown):
    """`paper-least` of both corpora, by name."""
    return {"passages": shown, "articles": shown.other("paper-articles", "paper-least")}


def to_memory(shown):
    """The least reads to the frames: the least of the mix and of words in 10,000 passages, and the most of all others."""
    beyond = {("passages", "`term-10000`"), ("passages", "`mix`"), ("articles", "`mix`")}
    found = {(corpus, name): of.at(name, "least / memory") for corpus, of in both_leasts(shown).items() for name in of.lines()}
    return min(found[one] for one in beyond), max(found[one] for one in found.keys() - beyond)


def in_vain(shown):
    """Pages read in vain for each that is used: of `term-100000` first, then of all other sets."""
    found = [(name != "`term-100000`", of.at(name, "read / used, with memory for all") - 1) for of in both_leasts(shown).values() for name in of.lines()]
    return [share for _, share in sorted(found)]


def of_mix(head):
    return lambda shown: tuple(of.at("`mix`", head) for of in both_leasts(shown).values())


def bloom_to_positions(shown):
    """Bytes of filters to those of positions, as published, passages and articles."""
    lists = [next(row["lists"] for row in of.rows if row.get("kind") == "index") for of in (shown, shown.other("wiser-articles"))]
    return [of["filters"] / of["positions"] for of in lists]


def phrase_bytes(kind, containing):
    """KB of a kind of filters to none, of sets with common words."""
    return lambda shown: [shown.at(name, f"KB: {kind}") / shown.at(name, "KB: none") for name in shown.lines(containing)]


def common_to_bloom(shown):
    return tuple(of.at("common", "to Bloom filters") for of in (shown, shown.other("paper-articles", "paper-sizes")))


def to_fingerprints(shown):
    """Queries a second of common neighbours to those of fingerprints."""
    before = shown.other("filters-16-before", "filter-rates")
    return [100 * shown.at(name, "queries/s: common") / before.at(name, "queries/s: fingerprints") for name in shown.lines()]


def fingerprint_sizes(shown):
    """Of the index with fingerprints: to the JSON lines, and to an index without filters."""
    row = shown.rows[0]
    plain = next(other for other in shown.other("filters-16").rows if other["filters"] == "none")
    return row["index_bytes"] / row["source_bytes"], row["index_bytes"] / plain["index_bytes"]


def index_to_its_memory(*others):
    """How many times its memory an index has."""
    def of(shown):
        results = [of.settings for of in (shown, *map(shown.other, others))]
        return tuple(settings["index"]["index_bytes"] / settings["memory_bytes"] for settings in results)
    return of


TECHNIQUES = [
    Claim("Its memory is a sixteenth of the index", "paper-passages", "", index_to_its_memory("paper-articles", "phrase-filters", "phrase-filters-articles"), like(16, 16, 16, 16, share=0.01),
          "times the memory"),
    Claim("Only the mix, and words in 10,000 passages, use more pages than memory holds", "paper-passages", "paper-least", to_memory,
          lambda found: found[0] > 1 >= found[1], "times the memory, the least of these and the most of the others"),
    Claim("0.33 for each page that is used with words in 100,000 passages, 0.01 to 0.07 with the others", "paper-passages", "paper-least", in_vain,
          lambda found: about(0.33)(found[:1]) and spans(0.01, 0.07, 0.3)(found[1:]), "pages in vain for each that is used"),
    Claim("The mix misses it, with 1.54 times on passages and 1.53 on articles", "paper-passages", "paper-least", of_mix("read / least"), like(1.54, 1.53, share=0.005),
          "times the least"),
    Claim("Of words in 100,000 passages it saves 7 % of the bytes and takes 11 % more reads", "paper-passages", "paper-switches", by_pruning("term-100000"), like(7, 11, share=0.1), "%"),
    Claim("In the mix it takes 3.3 % more reads, on articles 1.5", "paper-passages", "paper-switches", mix_by_pruning, like(3.3, 1.5, share=0.02), "% more reads"),
    Claim("a third is empty, the bitmap saves a third", "paper-passages", "paper-sizes",
          lambda shown: (shown.at("bloom", "empty, % (the paper: 32)"), shown.at("bloom", "bitmap saves, % (29)")), like(33, 33, share=0.1), "%"),
    Claim("two to six times the bytes of the positions", "wiser-passages", "", bloom_to_positions, spans(2, 6.4), "times, articles and passages"),
    Claim("fewer bytes for words in up to 1,000 documents", "phrase-filters", "phrase-filters", phrase_bytes("bloom", "`phrase-1"), lambda found: max(found[:3]) < 1 < found[3], "of the bytes without"),
    Claim("and without stop words for those in up to 100", "phrase-filters", "phrase-filters", phrase_bytes("bloom", "less/phrase"), lambda found: max(found[:2]) < 1 < min(found[2:]), "of the bytes without"),
    Claim("a fourteenth of the space of Bloom filters, on articles an eighth", "paper-passages", "paper-sizes", common_to_bloom, like(1 / 14, 1 / 8), "of their space"),
    Claim("Phrases with common words read four to seven times less", "phrase-filters", "phrase-filters",
          lambda shown: [1 / share for share in phrase_bytes("common", "`phrase-")(shown)], between(4, 7.5), "times"),
    Claim("On articles phrases with common words read 1.9 to 5.3 times less", "phrase-filters-articles", "phrase-filters",
          lambda shown: [1 / share for share in phrase_bytes("common", "`phrase-")(shown)], spans(1.9, 5.3, 0.02), "times"),
    Claim("Phrases of the web log and of the game without stop words read more", "phrase-filters", "phrase-filters",
          lambda shown: phrase_bytes("common", "less/web")(shown) + phrase_bytes("common", "less/game")(shown), at_least(1.01), "of the bytes without"),
    Claim("1.13 times the JSON lines and 1.36 times one without filters", "filters-16-before", "", fingerprint_sizes, like(1.13, 1.36, share=0.01), "times"),
    Claim("answer 82 to 108 % of the queries a second that fingerprints did", "filters-16", "filter-rates", to_fingerprints, spans(82, 108, 0.02), "%"),
]


def verdict_of(claim):
    """The figure of a claim of WiSER's paper."""
    return lambda shown: float(shown.at(claim, "here").split()[0])


def cost_of_filters(shown):
    """Filters that are read to positions that they save, of the most frequent words."""
    claim = "figure 10: bytes of positions saved to bytes of filters read, level "
    return 1 / verdict_of(f"{claim}100,000")(shown), 1 / verdict_of(f"{claim}10,000")(shown.other("wiser-articles", "wiser-claims"))


def prefetching(shown, case="published", name=None):
    """Queries that prefetched, by set: of one set, or of all."""
    return [row["prefetching"] for row in shown.rows if row.get("case") == case and name in (None, row["set"])]


def read_ahead(shown):
    """The part of the queries that prefetched with the scaled threshold, of the set of these levels where it is least."""
    names = [f"{kind}-{level}" for kind in ("term", "and", "phrase") for level in (1000, 10000)]
    return min(row["prefetching"] / row["queries"] for row in shown.rows if row.get("case") == "scaled prefetch" and row["memory"] == "none" and row["set"] in names)


def of_index(what):
    """What both indexes say of themselves, of passages and of articles."""
    return lambda shown: tuple(next(row[what] for row in of.rows if row.get("kind") == "index") for of in (shown, shown.other("wiser-articles")))


def queries_of_sets(shown):
    """The most queries of a set, of passages and of articles, then those of the rarest sets of words."""
    passages, articles = ({row["set"]: row["queries"] for row in of.rows if "case" in row} for of in (shown, shown.other("wiser-articles")))
    return max(passages.values()), max(articles.values()), passages["term-100000"], articles["term-10000"]


def both(claim):
    return lambda shown: (verdict_of(claim)(shown), verdict_of(claim)(shown.other("wiser-articles", "wiser-claims")))


MEDIANS = "figure 14: one word: medians up to so many times shorter, against Elasticsearch's default"
WISER = [
    Claim("11.5 KiB for all passages, and 131 bytes for 6,000 articles", "wiser-passages", "",
          lambda shown: of_index("scaled_threshold_bytes")(shown) + of_index("documents")(shown)[1:], like(11.5 * 1024, 131, 6000, share=0.005), "bytes, and articles"),
    Claim("At level 100,000 of passages and 10,000 of articles filters cost 1.6 and 2.8 times the bytes of the positions that they save",
          "wiser-passages", "wiser-claims", cost_of_filters, like(1.59, 2.84, share=0.01), "times"),
    Claim("On articles no query has zones that all reach the printed threshold of 128 KiB", "wiser-articles", "", prefetching, at_most(0), "queries that prefetched"),
    Claim("Of passages 13 of 93 words of level 100,000 do", "wiser-passages", "",
          lambda shown: (max(prefetching(shown, name="term-100000")), queries_of_sets(shown)[2]), exactly(13, 93), "queries"),
    Claim("the 93 together make 1.19 times fewer reads", "wiser-passages", "wiser-claims", verdict_of("adaptive prefetch takes fewer reads for long lists"), about(1.19, 0.005), "times"),
    Claim("With the scaled threshold it is 1.84 times at best", "wiser-passages", "wiser-claims", verdict_of("the same with a threshold scaled to the documents"), about(1.84, 0.005), "times"),
    Claim("On articles all queries of the levels 1,000 and 10,000 then read ahead", "wiser-articles", "", read_ahead, exactly(1), "the least part of a set"),
    Claim("Those of one word make 1.04 times fewer reads at best", "wiser-articles", "wiser-claims", verdict_of("the same with a threshold scaled to the documents"), about(1.04, 0.005), "times"),
    Claim("On long documents they save as much as on short ones", "wiser-passages", "wiser-claims",
          both("figure 9: phrases: filters read up to so many times less"), lambda found: about(found[0], 0.02)(found[1:]), "times less, passages and articles"),
    Claim("A set has at most 1,000 queries. Of words there are 93 at level 100,000 of passages, and 63 at level 10,000 of articles",
          "wiser-passages", "", queries_of_sets, exactly(1000, 1000, 93, 63), "queries"),
    Claim("On articles read-ahead of 128 KiB, Elasticsearch's default, has shorter modelled times than WiSER", "wiser-articles", "wiser-claims",
          verdict_of(MEDIANS), at_most(0.95), "times WiSER's"),
    Claim("Three places cost up to three times the bytes of one", "wiser-passages", "wiser-claims",
          verdict_of("figure 7: one word: up to so many times fewer bytes of lists than Elasticsearch"), about(3), "times"),
    Claim("Grouping saves one of them", "wiser-passages", "wiser-claims", verdict_of("the same by grouping alone, entries in memory in both"), about(2, 0.1), "times"),
    Claim("Documents alone save less against groups of 16 KiB the longer they are", "wiser-articles", "wiser-claims",
          lambda shown: (verdict_of(GROUPS)(shown.other("wiser-passages", "wiser-claims")), verdict_of(GROUPS)(shown)), lambda found: found[0] > found[1], "times, passages and articles"),
]
GROUPS = "figure 12: documents: so many times fewer bytes than groups of 16 KiB"


def to_published(kind, *sizes):
    """The modelled rate to the paper's, at these KiB."""
    return lambda shown: tuple(shown.at(f"{size} KiB, 32 at a time", kind) / shown.at(f"{size} KiB, 32 at a time", f"the paper's {kind}") for size in sizes)


DRIVES = [
    Proof("Tests hold both within 3 %", "research/drives/ssd/tests/tests/amplification.rs", "fifo_is_within_3_percent_of_its_closed_form"),
    Claim("Sequential reads of 4 KiB are a fifth slower than the paper's", "trees-figures", "drive-rates", to_published("sequential read", 4), about(0.8), "of the paper's rate"),
    Claim("Random writes of 16 and 32 KiB are 0.6 and 0.5 of the paper's", "trees-figures", "drive-rates", to_published("random write", 16, 32), like(0.64, 0.51), "of the paper's rate"),
]

NO_LIMIT, LEAST = "no limit, ", "16 MiB, "


def asked(memory, *sets):
    """The names of lines of `peers-costs`."""
    return [f"{memory}`{name}`" for name in sets]


def both_corpora(of):
    """Figures of passages and of articles."""
    return lambda shown: of(shown) + of(shown.other("peers-articles", "peers-costs"))


def cpu_to(peer, lines):
    """Processor time of Gannet to that of a peer, of the lines that there are."""
    def of(shown):
        return [shown.at(name, "CPU us: Gannet") / shown.at(name, f"CPU us: {peer}") for name in lines if name in shown.lines()]
    return both_corpora(of)


def bytes_to_better(line, head):
    """Bytes of Gannet to those of the peer that reads less."""
    return lambda shown: shown.at(line, f"{head}: Gannet") / min(shown.at(line, f"{head}: {peer}") for peer in ("Tantivy", "Lucene"))


def kept(*engines):
    """The part of the rate in the mix that is left with eight times the passages."""
    return lambda shown: [rate_kept(shown, "mix", engine) for engine in engines]


def rate_kept(shown, name, engine):
    line = f"`{name}`, {engine}"
    return shown.at(line, "queries/s: passages8") / shown.at(line, "queries/s: passages")


def most_kept(shown):
    """Of each set, the part of its rate that Gannet keeps to the largest that a peer keeps."""
    sets = list(dict.fromkeys(row["set"] for row in shown.rows if row["share"] is None))
    return [rate_kept(shown, name, "Gannet") / max(rate_kept(shown, name, peer) for peer in ("Tantivy", "Lucene")) for name in sets]


def openings(shown):
    return [shown.at(name, "opening ms: passages8") for name in shown.lines("Gannet")]


def segments(shown):
    return [row["segments"] for rows in shown.lines().values() for row in rows if "segments" in row]


def part_in_nodes(*corpora):
    return lambda shown: [shown.lines()[corpus][0]["bytes_written_for"]["nodes"] / shown.lines()[corpus][0]["bytes_written"] for corpus in corpora]


PEERS_ASKED = ["tantivy", "lucene", "seekstorm"]


def between_runs(shown, engines):
    """The faster to the slower of the two runs of each setting, of passages and articles."""
    rates = {}
    for corpus, rows in (("passages", shown.rows), ("articles", shown.other("peers-articles").rows)):
        for row in rows:
            if row["engine"] in engines and "qps" in row:
                rates.setdefault((corpus, row["engine"], row["set"], row["cache_bytes"]), []).append(row["qps"])
    return [max(pair) / min(pair) for pair in rates.values() if len(pair) > 1]


GROWN = "growth-passages peers-passages8", "peers-growth share=None"
DENSE = [name for memory in (LEAST, "1/16, ", NO_LIMIT) for name in asked(memory, "and-100000", "and-10000")]
PEERS = [
    Claim("With a sixteenth of the index of passages Gannet has 2.1 to 17 times the rate of the fastest peer, but for two very frequent words", *SIXTEENTH,
          lambda shown: [shown.at(name, "ratio") for name in shown.lines() if name != "and-100000"], spans(2.06, 17.4), "times"),
    Claim("Phrases read a fourteenth of the bytes of Lucene, which reads less than Tantivy", *SIXTEENTH, bytes_to_better("phrase-1000", "KB a query"), about(1 / 14), "of its bytes"),
    Claim("An AND of two words in 1,000 documents reads 0.16 of the better peer's bytes with 16 MiB, 1/25 of the index", "peers-passages", "peers-costs",
          bytes_to_better(f"{LEAST}`and-1000`", "KB"), about(0.16), "of its bytes"),
    Claim("16 MiB is the least that Gannet takes: 1/25 of the index of passages, 1/21 of articles and 1/38 of Linux sources", *ALL_CORPORA, index_to_least("passages", "articles", "linux"),
          like(25.4, 21.4, 37.9, share=0.01), "times the cache"),
    Claim("Gannet's two runs of a set differ by 1.5 times at most, a peer's by 3.4", "peers-passages", "",
          lambda shown: tuple(max(between_runs(shown, engines)) for engines in (["gannet"], PEERS_ASKED)), like(1.5, 3.4, share=0.02), "times"),
    Claim("half of the pairs differ by less than 1.2", "peers-passages", "", lambda shown: statistics.median(between_runs(shown, ["gannet", *PEERS_ASKED])), at_most(1.2), "times, the median"),
    Claim("One run of Lucene with documents and 16 MiB was killed at its limit", "peers-passages", "",
          lambda shown: sum("failed" in row for row in shown.rows + shown.other("peers-articles").rows), exactly(1), "runs that failed"),
    Claim("Their indexes then have 1 to 18 segments", *ALL_CORPORA, segments, spans(1, 18), "segments"),
    Claim("Articles and Linux sources take 1.2 to 1.3 times as long as with Tantivy, passages 1.6 times and eight times the passages 2.0 times", *ALL_CORPORA,
          seconds_to_tantivy("articles", "linux", "passages", "passages8"), like(1.28, 1.17, 1.58, 1.98, share=0.02), "times Tantivy's seconds"),
    Claim("About half of what Gannet then writes is nodes", *ALL_CORPORA, part_in_nodes("linux", "passages8"), between(0.45, 0.6), "of the bytes"),
    Claim("a commit then lasts up to 8.9 s", *ALL_CORPORA, lambda shown: shown.at("passages8", "longest commit, s: Gannet"), about(8.9, 0.02), "s"),
    Claim("Gannet takes 0.5 to 1.0 of Tantivy's processor time in mixes, the web log, ANDs and ORs of two words in 1,000 documents", "peers-passages", "peers-costs",
          cpu_to("Tantivy", asked(NO_LIMIT, "mix", "web-all", "and-1000", "or-1000")), spans(0.52, 1.01), "of its time"),
    Claim("SeekStorm takes less than Gannet for these ANDs and ORs and for phrases of the log", "peers-passages", "peers-costs",
          cpu_to("SeekStorm", asked(NO_LIMIT, "and-1000", "or-1000", "web-phrase")), at_least(1.05), "times its time"),
    Claim("ORs in eight times the passages. It has 0.83 of Tantivy's rate with a sixteenth of the index, and 0.70 without a limit", "peers-passages peers-passages8", "peers-ratios",
          lambda shown: tuple(shown.at("passages8, `or-1000`", f"{memory}: Tantivy") for memory in ("1/16", "no limit")), like(0.83, 0.70, share=0.01), "of Tantivy's rate"),
    Claim("An AND of two very frequent words takes 1.3 to 1.9 times Tantivy's processor time, with any memory", "peers-passages", "peers-costs",
          cpu_to("Tantivy", DENSE), spans(1.34, 1.92), "times its time"),
    Claim("Gannet's mix of passages then has a p50 of 46 us and a p99 of 12 ms", "peers-passages", "peers-latencies",
          lambda shown: (shown.at("no limit, `mix`", "p50 us: Gannet"), shown.at("no limit, `mix`", "p99 us: Gannet") / 1e3), like(45.9, 12.5, share=0.02), "us, ms"),
    Claim("Gannet keeps the largest part of its rate in every set", *GROWN, most_kept, at_least(1), "times the peers'"),
    Claim("In the mix it keeps 0.32, Tantivy 0.06, Lucene 0.12", *GROWN, kept("Gannet", "Tantivy", "Lucene"), like(0.32, 0.056, 0.123, share=0.02), "of the rate"),
    Claim("An opening takes Gannet 12 to 20 ms, twice as long as of the passages and more", *GROWN, openings, spans(12.3, 19.6), "ms"),
]

def of_strategies(head, *strategies):
    """A column of `mfis-gains` and its like, of these or of all strategies."""
    return lambda shown: [shown.at(name, head) for name in strategies or shown.lines()]


def to_strategy(head, base, *strategies):
    """A column of one strategy to those of others."""
    return lambda shown: [shown.at(base, head) / shown.at(name, head) for name in strategies]


def of_thresholds(shown):
    """The longest time from 32 on to the shortest."""
    late = [shown.at(name, "s") for name in shown.lines() if int(name) >= 32]
    return max(late) / min(late)


def reads_to(*strategies):
    """Reads of a list of MFIS to those of others."""
    return to_strategy("reads a list", "mfis", *strategies)


def exchanged(strategy):
    """MB that maintenance transfers."""
    return lambda shown: shown.at(strategy, "MB written") + shown.at(strategy, "MB read")


def verdicts(*words):
    """The figures of the claims of a paper that have all these words."""
    return lambda shown: [float(rows[0]["here"].split()[0]) for name, rows in shown.lines().items() if all(word in name for word in words)]


SUB_INDEXES = ("geometric", "logarithmic", "hlm-nc")
MERGING = ("immediate-merge", "ssd-hybrid", *SUB_INDEXES)
OF_PAPER = ("immediate-merge", "geometric", "in-place-c", "in-place-nc", "hlm-nc", "ssd-hybrid")
MFIS = [
    Claim("MFIS transfers more bytes than all merging ways and In-place contiguous", "mfis-whole", "mfis-claims", verdicts("whole vocabulary: ", " transfers"),
          at_most(0.98), "times MFIS"),
    Claim("It takes longer than all merging ways", "mfis-whole", "mfis-vocabulary table=full", to_strategy("s", "mfis", *MERGING), at_least(1.02), "times"),
    Claim("Queries of MFIS take longer than those of Geometric, HLM_NC and In-place contiguous", "mfis-whole", "mfis-gains table=paper",
          to_strategy("us a list", "mfis", "geometric", "hlm-nc", "in-place-c"), at_least(1.02), "times"),
    Claim("MFIS reads a list in far more pieces than these", "mfis-whole", "mfis-strategies table=paper",
          reads_to("geometric", "hlm-nc", "in-place-c"), at_least(3), "times"),
    Claim("both ways in place take longer than Geometric", "mfis-whole", "mfis-small table=small", of_strategies("to Geometric", "in-place-c", "in-place-nc"), at_least(1.02), "times"),
    Claim("In-place contiguous transfers more bytes than Geometric", "mfis-whole", "mfis-small table=small",
          lambda shown: exchanged("in-place-c")(shown) / exchanged("geometric")(shown), at_least(1.02), "times"),
    Claim("takes less time than In-place non-contiguous", "mfis-whole", "mfis-small table=small", to_strategy("s", "in-place-c", "in-place-nc"), at_most(0.98), "times"),
    Claim("A read of a list of MFIS has 19 KB here", "mfis-whole", "mfis-strategies table=paper",
          lambda shown: shown.at("mfis", "KB a list") / shown.at("mfis", "reads a list"), about(19, 0.02), "KB"),
    Claim("Geometric Partitioning writes four times the bytes of In-place non-contiguous in the paper, and 1.11 times here", "mfis-whole", "mfis-small table=small",
          to_strategy("MB written", "geometric", "in-place-nc"), about(1.11, 0.005), "times"),
    Claim("So MFIS transfers 63.8 GB, the most of all that finish, and takes 131 s", "mfis-whole", "mfis-vocabulary table=full",
          lambda shown: (exchanged("mfis")(shown) / 1e3, shown.at("mfis", "s")), like(63.8, 131, share=0.005), "GB, s"),
    Claim("Immediate Merge transfers 13.0 GB, Geometric Partitioning 1.17 GB and HLM_NC 0.90 GB", "mfis-whole", "mfis-vocabulary table=full",
          lambda shown: tuple(exchanged(name)(shown) / 1e3 for name in ("immediate-merge", "geometric", "hlm-nc")), like(13.0, 1.17, 0.90, share=0.005), "GB"),
    Claim("in 6 to 26 s", "mfis-whole", "mfis-vocabulary table=full", of_strategies("s", "immediate-merge", "geometric", "hlm-nc"), spans(6.35, 26.4, 0.02), "s"),
    Claim("Gannet transfers more bytes than MFIS where both have the same codes", "mfis-whole", "mfis-strategies table=long",
          lambda shown: exchanged("gannet")(shown) / exchanged("mfis")(shown), at_least(1.02), "times"),
    Claim("All but No-Merge take longer than MFIS, as in the paper", "mfis-whole", "mfis-gains table=paper", of_strategies("to MFIS", *OF_PAPER), at_least(1.02), "times"),
    Claim("One transfer at a time costs In-place non-contiguous more than on the paper's drives", "mfis-whole", "mfis-gains table=paper",
          of_strategies("to MFIS", "in-place-nc"), at_least(2.27), "times MFIS, 2.27 at most in the paper"),
    Claim("Gannet writes the fewest bytes", "mfis-whole", "mfis-strategies table=paper",
          to_strategy("MB written", "gannet", "no-merge", "mfis", *OF_PAPER), at_most(0.98), "of the others' bytes"),
    Claim("It takes longer than MFIS, since it syncs more files", "mfis-whole", "mfis-gains table=paper", of_strategies("to MFIS", "gannet"), at_least(1.02), "times"),
    Claim("SSD_Hybrid takes longer than in the paper", "mfis-whole", "mfis-gains table=paper", of_strategies("to MFIS", "ssd-hybrid"), at_least(2.33), "times MFIS, 2.33 at most in the paper"),
    Claim("there both ways in place take less time than Geometric Partitioning, and here they take longer", "mfis-whole", "mfis-small table=small",
          of_strategies("to Geometric", "in-place-c", "in-place-nc"), at_least(1.02), "times"),
    Claim("From 32 on the longest time is 1.26 times the shortest", "mfis-whole", "mfis-thresholds table=thresholds", of_thresholds, about(1.26, 0.01), "times"),
    Claim("It writes less than Immediate Merge, MFIS, SSD_Hybrid and both in place", "mfis-whole", "mfis-vocabulary table=full",
          lambda shown: [shown.at(name, "Gannet in as many flushes: MB written") / shown.at(name, "MB written") for name in ("immediate-merge", "mfis", "ssd-hybrid", "in-place-c", "in-place-nc")],
          at_most(0.98), "of their bytes"),
    Claim("It writes more than Geometric Partitioning, Logarithmic Merge and HLM_NC", "mfis-whole", "mfis-vocabulary table=full",
          to_strategy("MB written", "gannet", *SUB_INDEXES), at_least(1.01), "times their bytes"),
    Claim("Cold lists take longer than Immediate Merge's, which are one piece", "mfis-whole", "mfis-asked table=full",
          to_strategy("us a list: mean", "gannet", "immediate-merge"), at_least(1), "times"),
    Claim("Eight threads find fewer pairs than with Immediate Merge", "mfis-whole", "mfis-asked table=full",
          to_strategy("8 threads: pairs/s", "gannet", "immediate-merge"), at_most(0.98), "times"),
    Claim("A flush takes longer than with Geometric Partitioning, Logarithmic Merge and HLM_NC", "mfis-whole", "mfis-vocabulary table=full",
          to_strategy("s", "gannet", *SUB_INDEXES), at_least(1.02), "times"),
]


def beside_to(head, other):
    """A figure of queries beside writing to that of another phase, by threads that ask."""
    return lambda shown: tuple(shown.at(f"as it is: {threads} that ask, beside writing", head) / shown.at(f"as it is: {other}".format(threads), head) for threads in (1, 2))


WRITING = [
    Claim("Beside writing it is 1.9 times with one thread that asks, and 2.2 times with two", "duty", "during", beside_to("p99 us", "{} that ask, alone"), like(1.88, 2.16, share=0.02), "times"),
    Claim("documents come at 0.64 of the rate with one thread that asks, at 0.42 with two", "duty", "during", beside_to("documents/s", "only writing"), like(0.64, 0.42, share=0.02), "of the rate"),
]

EXPERIMENT_PAGES = {
    "docs/experiments/memory.md": PAGE_OF_MEMORY, "docs/experiments/instructions.md": INSTRUCTIONS, "docs/experiments/ranking.md": RANKING,
    "docs/experiments/mechanisms.md": MECHANISMS, "docs/experiments/techniques.md": TECHNIQUES, "docs/experiments/writing.md": WRITING,
    "research/papers/wiser/page.md": WISER, "research/papers/mfis/page.md": MFIS, "research/drives/page.md": DRIVES, "research/peers/page.md": PEERS,
}
