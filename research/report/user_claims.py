"""The claims of README and of the pages for users: see `page_claims.py`."""
from page_claims import Claim, Proof, about, at_least, at_most, between, exactly, like, spans
from peer_tables import LEAST_BYTES

MIB = 1 << 20
MEMORY = "memory-operations"


def excess(shown):
    """MiB above the budget, of all commands."""
    return [row["excess_bytes"] / MIB for row in shown.rows if row.get("excess_bytes") is not None]


def most_excess(shown):
    return max(excess(shown))


def beyond(shown):
    """Commands that missed the aim of 32 MiB."""
    return sum(above > 32 for above in excess(shown))


def documents(name):
    """Documents of a corpus of `research/measure/memory.py`."""
    return lambda shown: shown.settings["corpora"][name]["docs"]


def held(shown):
    """MiB that Tantivy holds with articles and Linux sources."""
    return [row["held_bytes"] / MIB for row in shown.rows if row["engine"] == "tantivy" and row["corpus"] in ("articles", "linux")]


def filter_costs(shown):
    """CPU of indexing with filters of common neighbours to that without, by corpus."""
    seconds = {name: built["cpu_seconds"] for name, built in shown.settings["indexes"].items() if "cpu_seconds" in built}
    return [figure / seconds[name.replace(" common", " none")] for name, figure in seconds.items() if name.endswith(" common")]


def threads_of(shown):
    return sorted({row["threads"] for row in shown.rows})


def cores(shown):
    return shown.result["machine"]["cores"]


def cache_mib(shown):
    return sorted({row["cache_bytes"] / MIB for rows in shown.lines().values() for row in rows if "cache_bytes" in row})


def index_to_cache(shown):
    return [shown.settings["indexes"]["gannet"]["index_bytes"] / MIB / cache for cache in cache_mib(shown)]


SIXTEENTH = "peers-passages", "queries share=16"
ALL_CORPORA = "peers-passages peers-articles peers-linux peers-passages8", "peers-indexing"


def runs_of(shown):
    return [part["settings"]["runs"] for part in shown.result["parts"]]


RUNS = Claim("Passages and articles ran twice, the others once", *ALL_CORPORA, runs_of, exactly(2, 2, 1, 1), "runs of each file")


def index_to_least(*corpora):
    """Gannet's index to the least memory that it takes."""
    return lambda shown: tuple(shown.at(corpus, "index GB: Gannet") * 1e9 / LEAST_BYTES for corpus in corpora)


def seconds_to_tantivy(*corpora):
    return lambda shown: tuple(shown.at(corpus, "s: Gannet") / shown.at(corpus, "s: Tantivy") for corpus in corpora)


def documents_indexed(shown):
    return shown.settings["indexes"]["gannet"]["documents"]


def held_to_told(shown):
    """What Tantivy holds, to the budget that it was told."""
    return [row["held_bytes"] / MIB / row["told_mib"] for row in shown.rows if row["engine"] == "tantivy"]


INDEXED, ASKED = "documents a CPU second", "queries a CPU second"


def to_gannet(peer, column, limits=("256 MiB", "no limit")):
    """Processor time of a peer to Gannet's, under each limit."""
    return lambda shown: [shown.at(f"Gannet, {limit}", column) / shown.at(f"{peer}, {limit}", column) for limit in limits]


def used_of_100(shown):
    """Pages that the mix uses of 100 that it reads, both corpora."""
    return [100 / of.at("`mix`", "read / used, with memory for all") for of in (shown, shown.other("paper-articles", "paper-least"))]


ABOVE = "most MiB held above the budget, file pages not counted"


README = [
    Claim("It searches millions of documents with a memory budget of 64 MiB", "memory-eightfold", "", documents("passages8"), at_least(2e6), "documents"),
    Claim("half a million passages", *SIXTEENTH, documents_indexed, about(5e5, 0.1), "documents"),
    Claim("may cache a sixteenth of Gannet's index", *SIXTEENTH, index_to_cache, about(16), "times the cache"),
    Claim("99 % of the pages that a cold mix reads are used", "paper-passages", "paper-least", used_of_100, about(99, 0.007), "% of pages"),
    Proof("a crash at any point leaves the last durable state", "crates/gannet/tests/tests/kill.rs", "what_was_acknowledged_survives_kills"),
    Claim("With memory for the whole index others are as fast or faster", "peers-passages peers-articles", "peers-ratios",
          lambda shown: [shown.at(f"{corpus}, `{name}`", "no limit: SeekStorm") for corpus in ("passages", "articles") for name in ("and-1000", "or-1000", "web-phrase")],
          at_most(0.95), "of SeekStorm's rate"),
    Claim("Bulk indexing takes more processor time than Tantivy's", "rate", "rate", lambda shown: shown.column("by CPU"), at_most(0.99), "of Tantivy's documents a CPU second"),
]

BENCHMARKS = [
    Claim("Half a million passages in 100 commits", *SIXTEENTH, lambda shown: (documents_indexed(shown), shown.settings["flushes"]),
          exactly(539_877, 100), "documents and commits"),
    Claim("8 threads on 2 cores", *SIXTEENTH, lambda shown: (*threads_of(shown), cores(shown)), exactly(8, 2), "threads and cores"),
    Claim("a cache of a sixteenth of Gannet's index", *SIXTEENTH, index_to_cache, about(16), "times the cache"),
    Claim("25 MiB", *SIXTEENTH, cache_mib, about(25), "MiB"),
    RUNS,
    Claim("16 MiB, the least that Gannet takes, is 1/25 of the index of passages, 1/21 of articles and 1/38 of Linux sources", *ALL_CORPORA, index_to_least("passages", "articles", "linux"),
          like(25.4, 21.4, 37.9, share=0.01), "times the cache"),
    Claim("two threads, 256 MiB. Tantivy may hold 256 MiB or more", "rate", "rate", lambda shown: (shown.settings["threads"], shown.settings["memory"]),
          exactly(2, 256), "threads and MiB"),
    Claim("its budget covers only a part of what it holds", "rate", "rate", held_to_told, at_least(1.05), "times what it was told"),
    Claim("Before any time is taken it compares the answers of the engines", "peers-passages", "",
          lambda shown: [100 * of[peer] for of in shown.result["agreements"].values() for peer in ("tantivy", "lucene")], at_least(99),
          "% of the answers of Tantivy and Lucene agree"),
    Claim("Of articles and Linux sources Tantivy holds more than 256 MiB", "rate", "rate", held, at_least(257), "MiB"),
    Claim("Filters of common neighbours, which Tantivy does not have, take a sixth to a fifth more CPU", "filters", "", filter_costs, between(1.15, 1.22), "times the CPU"),
    Claim("with 64 MiB and 8 threads on 2 cores", "filters", "filters",
          lambda shown: (shown.settings["memory"], shown.settings["threads"], cores(shown)), exactly(64, 8, 2), "MiB, threads and cores"),
    Claim("4.3 million documents", "memory-eightfold", "", documents("passages8"), about(4.3e6, 0.01), "documents"),
    Claim("with a budget of 64 MiB", "memory-eightfold", "front-memory", lambda shown: shown.rows[0]["budget_bytes"] / MIB, exactly(64), "MiB"),
    Claim("3.6 GB of text", "rate-passages8", "", lambda shown: shown.settings["corpora_used"]["passages8"]["file_bytes"] / 1e9, about(3.6, 0.01), "GB of JSON lines"),
]

GUIDE = [
    Claim("The process holds the budget plus at most 64 MiB", "memory-full", MEMORY, most_excess, at_most(64), "MiB above the budget, at most"),
]


def below_budget(shown):
    """MiB that Gannet holds while it indexes and searches with a budget of 96 MiB less than the limit."""
    return [shown.at("Gannet, 256 MiB", f"held MiB: {work}") for work in ("indexing", "searching")]


def killed_indexing(shown):
    """How often three packages were killed while they indexed under the limit."""
    rows = {row["engine"]: row["kills"] for row in shown.rows if row["what"] == "index" and row["limit_mib"]}
    return tuple(rows[name] for name in ("lancedb", "bm25s", "duckdb"))



PYTHON = [
    Proof("Ctrl-C ends a search or an `add` within 100 ms", "python/tests/test_processes.py", "test_ctrl_c_ends_a_search"),
    Claim("27,000 passages, an index that fits into every limit", "python-peers-twentieth", "", lambda shown: shown.settings["documents"], about(27_000, 0.01), "documents"),
    Claim("All 540,000 passages. A package that is killed", "python-peers", "", lambda shown: shown.settings["documents"], about(540_000, 0.01), "documents"),
    *(Claim("Tantivy takes six to nine tenths of its processor time", name, "python-peers", to_gannet("tantivy-py", INDEXED), between(0.58, 0.92), "of Gannet's")
      for name in ("python-peers-twentieth", "python-peers")),
    Claim("LanceDB eight to nine and a half", "python-peers-twentieth", "python-peers", to_gannet("LanceDB", INDEXED), between(0.76, 0.96), "of Gannet's"),
    Claim("LanceDB eight to nine and a half", "python-peers", "python-peers", to_gannet("LanceDB", INDEXED, limits=["no limit"]), between(0.76, 0.96), "of Gannet's"),
    Claim("SQLite takes half of it on the small corpus", "python-peers-twentieth", "python-peers", to_gannet("SQLite FTS5", INDEXED), between(0.42, 0.55), "of Gannet's"),
    Claim("and eight to nine tenths on the large one", "python-peers", "python-peers", to_gannet("SQLite FTS5", INDEXED), between(0.78, 0.92), "of Gannet's"),
    Claim("takes about a third of Tantivy's processor time", "python-peers", "python-peers",
          lambda shown: [1 / ratio for ratio in to_gannet("tantivy-py", ASKED)(shown)], between(0.27, 0.36), "of Tantivy's"),
    Claim("A single call takes half as much again", "python-peers", "python-peers", to_gannet("Gannet, dicts and single calls", ASKED),
          between(1.4, 1.6), "times"),
    Claim("LanceDB is killed while it builds the index of all passages", "python-peers", "", killed_indexing, exactly(1, 1, 0), "kills, of DuckDB none"),
    Claim("What Gannet holds stays below its budget", "python-peers", "python-peers", below_budget, at_most(160), "MiB of 160"),
    Claim("All 540,000 passages, by the wheel", "python", "", lambda shown: max(row.get("documents", 0) for row in shown.rows), about(540_000, 0.01), "documents"),
    Claim("A query from Python costs nearly the instructions that it costs the command", "python-instructions", "checks",
          lambda shown: shown.check("rate of search_many, by instructions, of that of bench --ids"), at_least(0.95), "of the rate"),
    Claim("stay within the budget and 128 MiB", "python-memory", "checks", lambda shown: shown.check(ABOVE), at_most(128), "MiB above the budget"),
]

EMPTY = "p50 of a call to each shard that does nothing, ms"


def processors(shown, what):
    """Seconds of processor time of a write, by kind of process."""
    return next(row["processor_seconds"] for row in shown.rows if row["what"] == what)


def one_process(shown):
    return processors(shown, "one process")["this process"]


def as_one_block(shown):
    """The time of a write of a file as one block, of that of one as Ray splits it."""
    return shown.check("documents/s of gannet.ray.write, split by Ray") / shown.check("documents/s of gannet.ray.write, one block")


RAY = [
    Claim("100 processes killed and 20 nodes lost", "shard-kills", "checks", lambda shown: (shown.check("processes killed"), shown.check("nodes lost, each with a replica")), exactly(100, 20), "processes and nodes"),
    Claim("Each lost node had a replica and a writer", "shard-kills", "checks",
          lambda shown: (shown.check("nodes lost, each with a replica"), shown.check("nodes lost that had a writer")), exactly(20, 20), "nodes with replicas, with writers"),
    Claim("Both replicas of a shard were killed at once 20 times", "shard-kills", "checks", lambda shown: shown.check("events of the kind both replicas"), exactly(20), "times"),
    Claim("All 540,000 passages in four shards on three nodes", "shards", "checks",
          lambda shown: (shown.rows[0]["documents"], shown.settings["shards"], shown.settings["nodes"]), exactly(539_877, 4, 3), "documents, shards and nodes"),
    Claim("a quarter of the memory of the one index", "shards", "", lambda shown: 1 / shown.settings["shards"], exactly(0.25), "of it"),
    Claim("All share two cores", "shards", "", cores, exactly(2), "cores"),
    Claim("about half the time when one task read a whole file and wrote it", "shards", "checks", as_one_block, between(0.4, 0.67), "of the time"),
    Claim("Calls that do nothing take nearly half of what shards add", "shards", "checks",
          lambda shown: shown.check(EMPTY) / shown.check("ms that shards add at p50"), between(0.4, 0.5), "of it"),
    Claim("A write takes two and a half times the processor time of one process", "shards", "", lambda shown: sum(processors(shown, "ray").values()) / one_process(shown), about(2.45, 0.06), "times"),
    Claim("the writers take nearly twice as much as it", "shards", "", lambda shown: processors(shown, "ray")["writers"] / one_process(shown), between(1.7, 2), "times"),
    Claim("Answers are equal", "shards", "checks", lambda shown: shown.check("answers that are not those of one index, IDs or scores (1e-5)"), exactly(0), "differ"),
    Claim("both targets of speed are missed", "shards", "checks", lambda shown: sum(not check["holds"] for check in shown.result["checks"]), exactly(2), "missed"),
]


def sent_before(shown):
    return shown.column("of these sent before", "cache of 780 MiB")


def quarter_hits(shown):
    """How much more of the pages a cache finds that holds all, in points."""
    return [shown.at(f"cache of 780 MiB: {a}", "hit ratio, %") - shown.at(f"cache of 98 MiB: {a}", "hit ratio, %")
            for a in ("first pass", "second pass, another process")]


REMOTE = [
    Claim("half a million passages on a server", "remote", "", lambda shown: shown.settings["published"]["documents"], about(5e5, 0.1), "documents"),
    Claim("It delays each request by 20 ms and passes 100 MB/s", "remote", "",
          lambda shown: (shown.settings["delay"], shown.settings["bandwidth"] / 1e6), exactly(20, 100), "ms and MB/s"),
    Claim("`--memory` is 64 MiB", "remote", "", lambda shown: shown.settings["memory"], exactly(64), "MiB"),
    Claim("Its figures are medians of 100", "remote", "", lambda shown: shown.settings["cold"], exactly(100), "queries"),
    Claim("is asked by 8 threads", "remote", "", lambda shown: shown.settings["threads"], exactly(8), "threads"),
    Claim("Opening reads two objects", "remote", "remote", lambda shown: shown.column("opening: requests"), exactly(2, 2, 2, 2), "requests"),
    Claim("A wide gap saves few requests", "remote", "remote",
          lambda shown: 100 * (1 - shown.at("256 KiB", "log: requests a query") / shown.at("0 KiB", "log: requests a query")), at_most(20), "% less of the log"),
    Claim("then with one of a quarter of the index", "remote", "remote-cached",
          lambda shown: min(row["cache_bytes"] for row in shown.rows if row["kind"] == "cached") / shown.settings["published"]["bytes"], about(0.25), "of the index"),
    Claim("No page is fetched twice where the cache has room", "remote", "remote-cached", sent_before, exactly(0, 0), "pages"),
    Claim("With a quarter of the index and no query asked twice, a cache does little for this log", "remote", "remote-cached", quarter_hits,
          at_least(20), "points less of the pages than with room for all"),
    Claim("Each is sent twice", "publications", "remote-publications", lambda shown: shown.column("sent / new, median"), about(2), "times the new pages"),
    Claim("All together the share is smaller", "publications", "remote-publications", lambda shown: shown.column("sent / new, all together"), at_most(1.9), "times the new pages"),
]


def held_settings(place):
    """In how many settings of `tiers-holds` an aim holds, by the place of its column."""
    return lambda shown: sum(figure == "holds" for figure in shown.texts(place))


def transferred_to_mfis(shown):
    """MB that maintenance transfers, to those of MFIS."""
    def mb(strategy):
        return shown.at(strategy, "MB written") + shown.at(strategy, "MB read")
    return [mb(strategy) / mb("mfis") for strategy in shown.lines() if strategy not in ("mfis", "no-merge", "gannet")]


def finished_to_mfis(shown):
    """The same with a whole vocabulary, of the ways that all flushes ended with."""
    def mb(strategy):
        return shown.at(strategy, "MB written") + shown.at(strategy, "MB read")
    done = [strategy for strategy in shown.lines() if shown.at(strategy, "flushes") == shown.at("mfis", "flushes")]
    return [mb(strategy) / mb("mfis") for strategy in done if strategy != "mfis"]


def random_read(shown):
    return shown.result["machine"]["disk"]["random_read_us_p50"]


EXPERIMENTS = [
    Claim("As a whole engine with a sixteenth of Lucene's memory it answers the web log more slowly", "wiser-engines", "wiser-engine-claims",
          lambda shown: float(shown.at("figure 19: with a small part of Elasticsearch's memory WiSER is faster, but for phrases", "here").split()[0]), at_most(0.95),
          "of Lucene's rate"),
    Claim("takes 36 to 93 us for a random read of 4 KiB", "memory-full", "", random_read, about(36, 0.02), "us, the least of a file"),
    Claim("takes 36 to 93 us for a random read of 4 KiB", "duty", "", random_read, about(93, 0.02), "us, the most of a file"),
    Claim("nothing takes more than the budget and 64 MiB", "memory-full", MEMORY, most_excess, at_most(64), "MiB above the budget, at most"),
    Claim("ahead where memory is a sixteenth of the index; behind in conjunctions of very frequent words", *SIXTEENTH,
          lambda shown: (min(shown.at(name, "ratio") for name in shown.lines() if name != "and-100000"), shown.at("and-100000", "ratio")),
          lambda found: found[0] > 1 > found[1], "times the faster peer's rate, the least of the others and the conjunctions"),
    Claim("three commands miss the aim of 32", "memory-full", MEMORY, beyond, exactly(2), "in whole corpora"),
    Claim("three commands miss the aim of 32", "memory-twentieth", MEMORY, beyond, exactly(1), "in a twentieth"),
    Claim("cost a query without them no more than 4 %", "instructions", "instructions", lambda shown: shown.column("now: more, %", "query"), at_most(4), "% more instructions"),
    Claim("small commits leave an index that is hardly larger", "writing-commits", "commits",
          lambda shown: [shown.at(name, "to one commit") for name in ("small commits", "some of them flushes")], at_most(1.2), "times one commit's"),
    Claim("beside writing p99 is about twice as long", "duty", "during",
          lambda shown: [shown.at(f"as it is: {threads} that ask, beside writing", "p99 us") / shown.at(f"as it is: {threads} that ask, alone", "p99 us") for threads in (1, 2)],
          between(1.8, 2.3), "times"),
    Claim("on long lists MFIS transfers the fewest bytes of the papers' ways but for No-Merge", "mfis-whole", "mfis-strategies table=paper", transferred_to_mfis, at_least(1), "times MFIS"),
    Claim("with a whole vocabulary the most", "mfis-whole", "mfis-vocabulary table=full", finished_to_mfis, at_most(0.98), "times MFIS, of those that finish"),
    Claim("its queries take longer than those of merged lists", "mfis-whole", "mfis-gains table=paper",
          lambda shown: [shown.at(strategy, "us a list") / shown.at("mfis", "us a list") for strategy in ("immediate-merge", "geometric", "logarithmic", "hlm-nc")],
          at_most(0.98), "times MFIS"),
    Claim("the FD-tree of one level beats the AS B-tree", "trees-mixed", "trees-mixed",
          lambda shown: shown.at("`as-b-tree`", "10/90") / shown.at("`fd-tree`", "10/90"), at_least(1.05), "times as long"),
    Claim("Gannet's tree loses to it with many insertions", "trees-mixed", "trees-mixed",
          lambda shown: shown.at("`gannet`", "90/10") / shown.at("`fd-tree`", "90/10"), at_least(1.05), "times as long"),
    Claim("ahead in modelled response time in nine of ten settings", "tiers", "tiers-holds",
          held_settings(9), exactly(9), "settings"),
    Claim("in hit ratio by bytes in seven", "tiers", "tiers-holds",
          held_settings(5), exactly(7), "settings"),
    Claim("amplification within 3 % of the closed forms", "ssd", "amplification",
          lambda shown: [100 * abs(row[kind] / row[f"{kind}_closed_form"] - 1) for row in shown.rows for kind in ("fifo", "greedy")], at_most(3), "% off"),
    Claim("three rounds for a cold query", "remote", "remote", lambda shown: shown.column("cold query: rounds"), exactly(3, 3, 3, 3), "rounds"),
    Claim("on the large index more queries a CPU second than Tantivy", "python-peers", "python-peers", to_gannet("tantivy-py", ASKED), at_least(1.1), "times Tantivy's"),
    Claim("both targets of speed are missed", "shards", "checks", lambda shown: sum(not check["holds"] for check in shown.result["checks"]), exactly(2), "missed"),
]

USER_PAGES = {
    "README.md": README, "docs/benchmarks.md": BENCHMARKS, "docs/guide.md": GUIDE, "docs/python.md": PYTHON, "docs/ray.md": RAY,
    "docs/remote.md": REMOTE, "docs/experiments.md": EXPERIMENTS,
}
