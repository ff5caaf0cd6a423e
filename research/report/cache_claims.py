"""The claims of research/papers/two-tier-cache/page.md: see `page_claims.py`. Times of devices are modelled."""
from page_claims import Claim, about, at_least, at_most, between, exactly, like, spans

LOGS = ("web", "zipf")
BYTES, RESULTS, RESPONSE, WRITTEN = "hit_ratio/bytes", "hit_ratio/results", "modelled_response_us", "flash/written_bytes"


def figure(row, path):
    for name in path.split("/"):
        row = row[name]
    return row


def policy(shown, log, mb, name):
    """The row of a policy with so many MB of memory."""
    return next(row for row in shown.rows if row["experiment"] == "policies" and (row["log"], row["capacity_mb"], row["policy"]) == (log, mb, name))


def of(log, mb, name, path, scale=100):
    return lambda shown: scale * figure(policy(shown, log, mb, name), path)


def each(*ones):
    """Different figures, one after the other."""
    return lambda shown: tuple(one(shown) for one in ones)


def repeated(name):
    return lambda shown: tuple(100 * shown.result["workloads"][log][name] for log in LOGS)


def held(place):
    """In how many settings an aim holds, by the place of its column."""
    return lambda shown: sum(text == "holds" for text in shown.texts(place))


def below_next(shown):
    """Per cent by which the response is below that of the next best, where it is."""
    found = []
    for rows in shown.lines().values():
        own = min(row[RESPONSE] for row in rows if row["policy"] == "gannet")
        best = min(row[RESPONSE] for row in rows if row["policy"] != "gannet")
        found += [100 * (1 - own / best)] if own < best else []
    return found


def fastest_of_foyer(path, scale):
    """A figure of foyer's fastest setting with 5 MB on the drawn log."""
    def of_it(shown):
        rows = [row for row in shown.rows if row["experiment"] == "foyer" and (row["log"], row["capacity_mb"]) == ("zipf", 5)]
        return scale * figure(min(rows, key=lambda row: row[RESPONSE]), path)
    return of_it


def to_all(log, mb):
    """Per cent of the bytes written with everything admitted."""
    return lambda shown: 100 * of(log, mb, "gannet", WRITTEN)(shown) / of(log, mb, "gannet-all", WRITTEN)(shown)


def times_as_long(log):
    return lambda shown: of(log, 20, "lru", RESPONSE)(shown) / of(log, 20, "gannet", RESPONSE)(shown)


def gains(log, *policies):
    """The figures of a column against `lru-partial`, of policies on a log."""
    return lambda head: lambda shown: [shown.other("tiers", f"tiers-gains log={one}").at(name, head) for one in log for name in policies]


OURS = gains(LOGS, "cblru", "cbslru")
PATTERN = "tiers-pattern"


def pattern(log, key):
    return lambda shown: 100 * shown.result["workloads"][log]["pattern"][key]


def hottest_tenth(shown):
    return [100 * shown.result["workloads"][log]["pattern"]["reads_of_hottest"][1][1] for log in LOGS]


def settings_of(name, *policies):
    """What policies chose as a setting, in per cent."""
    return lambda shown: [100 * row["tuned"][name] for row in shown.rows if row["experiment"] == "policies" and row["policy"] in policies]


def chose_longest(shown):
    """From how many MB on policies chose the longest prefix on the drawn log."""
    return [row["capacity_mb"] for row in shown.rows if row["experiment"] == "policies" and row["tuned"].get("prefix") == "max"]


# Where parts that grow find more bytes than fixed ones.
GROWN = [("web", 5), ("web", 10), ("web", 20), ("zipf", 10), ("zipf", 20)]


def grown_to_partial(path):
    return lambda shown: [of(*at, "lru-grows", path)(shown) / of(*at, "lru-partial", path)(shown) for at in GROWN]


ROWS = "tiers-policies"
CACHE = [
    Claim("Of the web log 12.8 % of the queries repeat an earlier one, of its second half 15.4 %", "tiers", "",
          lambda shown: (repeated("repeated")(shown)[0], repeated("repeated_in_second_half")(shown)[0]), like(12.8, 15.4, share=0.004), "%"),
    Claim("In the drawn log it is 62.5 % and 72.6 %", "tiers", "",
          lambda shown: (repeated("repeated")(shown)[1], repeated("repeated_in_second_half")(shown)[1]), like(62.5, 72.6, share=0.001), "%"),
    Claim("Of the bytes of the second half 84.9 % were used before on the web log and 90.7 % on the drawn one", "tiers", "",
          repeated("bytes_needed_before_in_second_half"), like(84.9, 90.7, share=0.001), "%"),
    Claim("Response time holds in nine of ten settings: it is 6 to 31 % below that of the next best", "tiers", "tiers-holds", below_next,
          lambda found: len(found) == 9 and spans(6, 31, 0.08)(found), "% below"),
    Claim("foyer's `lfu` takes 6.9 ms, `gannet` 7.9", "tiers", "tiers-holds",
          each(fastest_of_foyer(RESPONSE, 1e-3), of("zipf", 5, "gannet", RESPONSE, 1e-3)), like(6.9, 7.9, share=0.01), "ms"),
    Claim("`lfu` finds more of the results (72.6 %, `gannet` 68.1) and fewer of the bytes (76.6, 81.0)", "tiers", "tiers-peers log=zipf",
          each(fastest_of_foyer(RESULTS, 100), of("zipf", 5, "gannet", RESULTS), fastest_of_foyer(BYTES, 100), of("zipf", 5, "gannet", BYTES)),
          like(72.6, 68.1, 76.6, 81.0, share=0.002), "%"),
    Claim("**The hit ratio by bytes does not hold in three of ten**", "tiers", "tiers-holds", held(5), exactly(7), "settings hold"),
    Claim("with 20 MB on the web log (83.8 %, `lru` 85.9)", "tiers", "tiers-holds", each(of("web", 20, "gannet", BYTES), of("web", 20, "lru", BYTES)), like(83.8, 85.9, share=0.001), "%"),
    Claim("with 10 and 20 MB on the drawn one (90.1 % twice, `lru-grows` 90.7, `lru` 92.4)", "tiers", "tiers-holds",
          each(of("zipf", 10, "gannet", BYTES), of("zipf", 20, "gannet", BYTES), of("zipf", 10, "lru-grows", BYTES), of("zipf", 20, "lru", BYTES)),
          like(90.1, 90.1, 90.7, 92.4, share=0.001), "%"),
    Claim("`lru` reads whole lists, in 19 and 22 times the time", "tiers", ROWS, each(times_as_long("zipf"), times_as_long("web")), like(19, 22, share=0.03), "times"),
    Claim("**Bytes written do not hold in three of ten**", "tiers", "tiers-holds", held(12), exactly(7), "settings hold"),
    Claim("57 % of those of `gannet-all` with 10 MB on the web log, 61 and 69 % with 10 and 20 MB on the drawn one", "tiers", "tiers-holds",
          each(to_all("web", 10), to_all("zipf", 10), to_all("zipf", 20)), like(57, 61, 69, share=0.01), "%"),
    Claim("Where flash is scarce `gannet` writes 9 to 46 %", "tiers", "tiers-holds", lambda shown: [to_all(log, mb)(shown) for log in LOGS for mb in (1, 2, 5)], spans(9, 46), "%"),
    Claim("It gains 3 points in place of 9 and 13, and CBSLRU no more than CBLRU", "tiers", "tiers-changes log=web",
          lambda shown: shown.column("hit ratio, points", "cb"), between(2.9, 3.5), "points"),
    Claim("**the hit ratio of CBLRU and CBSLRU reverses** on both logs, by 4 to 10 points", "tiers", "tiers-gains", OURS("hit ratio, points"), spans(-10, -4, 0.1), "points"),
    Claim("Response time holds against it, by 6 to 28 %", "tiers", "tiers-gains", OURS("response, %"), spans(-28, -6, 0.08), "%"),
    Claim("Throughput, whose mean is that of rates, reverses for CBLRU on the web log", "tiers", "tiers-gains", gains(["web"], "cblru")("throughput, %"), at_most(-1), "%"),
    Claim("Erases hold", "tiers", "tiers-gains", OURS("erases, %"), at_most(-1), "%"),
    Claim("It finds 24 % of the results of the drawn log with 1 MB, where LRU finds 13 %", "tiers", ROWS,
          each(of("zipf", 1, "cbslru", RESULTS), of("zipf", 1, "lru", RESULTS)), like(24, 13, share=0.01), "%"),
    Claim("CBSLRU chose a static part of 75 to 90 % of flash", "tiers", "", settings_of("static", "cbslru"), spans(75, 90), "%"),
    Claim("choose the longest prefix on the drawn log from 5 or 10 MB on", "tiers", "", chose_longest, spans(5, 20), "MB"),
    Claim("more bytes than `lru-partial` from 5 MB on, on the drawn log from 10 MB on", "tiers", ROWS, grown_to_partial(BYTES), at_least(1.01), "times the bytes found"),
    Claim("for 1.7 to 4.5 times the writes", "tiers", ROWS, grown_to_partial(WRITTEN), spans(1.7, 4.5), "times"),
    Claim("The hottest tenth of the pages takes half of the reads", "tiers", PATTERN, hottest_tenth, between(48, 55), "%"),
    Claim("Of the requests 96 % begin elsewhere than the last one ended", "tiers", PATTERN, pattern("web", "random"), about(96, 0.01), "% on the web log"),
    Claim("Of the pages of the lists that are asked for 98 % are passed over", "tiers", PATTERN, pattern("web", "pages_skipped"), about(98, 0.01), "% on the web log"),
    Claim("2 MB with 200 MB of flash cost more than 5 MB with 100 MB", "tiers", "tiers-costs",
          lambda shown: shown.at("2 MB, 200 MB of flash", "dollars, 2012") / shown.at("5 MB, 100 MB of flash", "dollars, 2012"), at_least(1.01), "times the price"),
    Claim("against LRU the hit ratio on the web log gains half of the paper's or less", "tiers", "tiers-changes log=web",
          lambda shown: [shown.at(name, "hit ratio, points") / shown.at(name, "the paper's") for name in ("cblru", "cbslru")], at_most(0.5), "of the paper's points"),
    Claim("The access time of a page is 13 % longer with CBLRU, 6 % on the drawn log", "tiers", "tiers-changes",
          lambda shown: tuple(shown.other("tiers", f"tiers-changes log={log}").at("cblru", "of a page, %") for log in LOGS), like(13, 6, share=0.07), "% more"),
]
