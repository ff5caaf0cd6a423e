"""What the Smart SSD paper claims (Wang and Park, 2016), by the result of `research/papers/smart-ssd/smart_ssd.py`. Times and energies are modelled."""
import statistics

from claims import Claim, claim_lines
from published import SMART_FACTORS, SMART_STEPS, SMART_TABLES, SMART_UNION


def at_place(rows, place, *values):
    """The rows of a table or figure, at some of its values or at all."""
    return [row for row in rows if row["place"] == place and (not values or row["x"] in values)]


def gains(of, cost, place, *values):
    """How many times as much the host takes as the drive: the least, the largest or the mean of a figure."""
    def figure(rows):
        found = at_place(rows, place, *values)
        return of(row["host"][cost] / row["device"][cost] for row in found) if found else None
    return figure


def gain_of_means(cost, place):
    """The mean of the host to that of the drive, as the paper's tables have it."""
    def figure(rows):
        found = at_place(rows, place)
        return sum(row["host"][cost] for row in found) / sum(row["device"][cost] for row in found) if found else None
    return figure


def spread(place):
    """The drive's longest time to its shortest."""
    def figure(rows):
        times = [row["device"]["ms"] for row in at_place(rows, place)]
        return max(times) / min(times) if times else None
    return figure


def steps(of, place, *values, side="device"):
    """How many times as long it takes at a value as at the one before."""
    def figure(rows):
        times = [row[side]["ms"] for row in at_place(rows, place, *values)]
        return of(after / before for before, after in zip(times, times[1:])) if times else None
    return figure


def last_step(place):
    """What the last value of a figure changes, of all that changes."""
    def figure(rows):
        times = [row["device"]["ms"] for row in at_place(rows, place)]
        return (times[-1] - times[-2]) / (times[-1] - times[0]) if times else None
    return figure


def more(place, first, last):
    """By how much the drive takes longer at a value than at another."""
    def figure(rows):
        times = [row["device"]["ms"] for row in at_place(rows, place, first, last)]
        return times[1] - times[0] if times else None
    return figure


def quotient(one, other):
    def figure(rows):
        parts = one(rows), other(rows)
        return None if None in parts else parts[0] / parts[1]
    return figure


def gaps(rows):
    """How many times as large the gap of drive and host is as with a list less, where that is least."""
    found = [row["device"]["ms"] - row["host"]["ms"] for row in at_place(rows, "20")]
    return min((after / before for before, after in zip(found, found[1:])), default=None)


def published(table, cost):
    drive_ms, host_ms, drive_mj, host_mj = SMART_TABLES[table]
    return f"{host_ms / drive_ms:.2f}" if cost == "ms" else f"{host_mj / drive_mj:.2f}"


def union(cost):
    """The mean over the lists that are varied in size, skew and ratio."""
    def figure(rows):
        found = [row for place in ("union size", "union skew", "union ratio") for row in at_place(rows, place)]
        return statistics.mean(row["host"][cost] / row["device"][cost] for row in found) if found else None
    return figure


def wins(what, paper, least, why, holds=1.1):
    """The drive takes less."""
    return Claim(what, paper, least, holds, 1.0, why)


def loses(what, paper, largest, why):
    return Claim(what, paper, largest, 0.95, 1.0, why)


LINK = "pages do not cross the link"
WATTS = "the drive takes a third of the watts"
LITTLE_LONGER = WATTS + ", and less than three times as long"
TWICE = "algorithm 2 looks at each list twice for each result, in slow memory"
FROM_1, BELOW_1 = (1, 10, 100), (0.01, 0.1)

SMART_SSD = [
    wins("table 3: intersection is faster in the drive", published("table 3", "ms"), gain_of_means("ms", "table 3"), LINK + "; its lists are made up here"),
    *(wins(f"figure {place}: {what} {verb}, mean", str(SMART_FACTORS[place][part]), gains(statistics.mean, cost, place), why)
      for place, what in [("9", "intersection by size"), ("13", "intersection by number of lists"), ("15", "difference by size")]
      for part, cost, verb, why in [(0, "ms", "is faster in the drive", LINK), (1, "mj", "takes less energy in the drive", WATTS)]),
    *(wins(f"figure {place}: {what} is faster in the drive at each {value}", "- (text)", gains(min, "ms", place), why)
      for place, what, value, why in [
          ("9", "intersection", "size", LINK), ("10", "intersection", "skew", "a short list lets the pivot jump"), ("11", "intersection", "ratio, one list short", LINK),
          ("12", "intersection", "ratio, equal lists",
           "with everything in common the drive merges 327,680 pairs and sends as many results; up to 10 % in common it wins"),
          ("13", "intersection", "number of lists", LINK), ("14", "ranked intersection", "ratio, equal lists", "ten results are sent"),
          ("15", "difference", "size", LINK), ("17", "difference", "ratio", LINK), ("19", "ranked difference", "ratio", "ten results are sent")]),
    *(wins(f"figure {place}: {what} takes less energy in the drive at each {value}", "- (text)", gains(min, "mj", place), WATTS)
      for place, what, value in [("10", "intersection", "skew"), ("12", "intersection", "ratio, equal lists"), ("17", "difference", "ratio"), ("19", "ranked difference", "ratio")]),
    Claim("figure 9: longer lists take the drive longer, each size to the one before", "- (text)", steps(min, "9"), 1.1, 1.0, "more pages"),
    Claim("figure 10: the time falls with skew, each step to the one before", "- (text)", steps(max, "10"), 1.0, 1.05, "the short list gets shorter"),
    Claim("figure 11: with a short list the ratio hardly matters, largest to least time", "- (text)", spread("11"), 1.1, 1.5, "a short list has few results"),
    Claim("figure 12: with equal lists it matters, most from 10 to 100 %", "- (text)", last_step("12"), 0.5, 0.25, "the results are sent and ranked", "of the rise"),
    Claim("figure 13: each list more takes the drive longer", "- (text)", steps(min, "13"), 1.0, 0.95, "a further short list makes the pivot jump further"),
    Claim("figure 13: a third, short list adds little", "- (text)", steps(max, "13", 2, 3), 1.1, 1.5, "as above"),
    Claim("figure 14: ranking in the drive makes the rise of figure 12 smaller", f"{SMART_STEPS['14'] / SMART_STEPS['12']:.2f}", quotient(more("14", 10, 100), more("12", 10, 100)), 0.6, 1.0,
          "ten results are sent in place of all"),
    Claim("section 7.1: more lists gain more: eight to two", "- (text)", quotient(gains(max, "ms", "13", 8), gains(max, "ms", "13", 2)), 1.05, 0.95,
          "a pivot is looked up in more lists, in slow memory"),
    Claim("section 7.1: longer lists gain more: 100 MB to 1 MB", "- (text)", quotient(gains(max, "ms", "9", 100), gains(max, "ms", "9", 1)), 1.05, 0.95,
          "opening and polling weigh less"),
    Claim("section 7.1: skewed lists gain more: 10,000 to 1", "- (text)", quotient(gains(max, "ms", "10", 10_000), gains(max, "ms", "10", 1)), 1.05, 0.95, "less is looked at"),
    Claim("section 7.1: lists with less in common gain more: 0.1 to 100 %, equal lists", "- (text)", quotient(gains(max, "ms", "12", 0.1), gains(max, "ms", "12", 100)), 1.05, 0.95,
          "fewer results"),
    Claim("section 9: with difference lists with more in common gain more: 100 to 0.1 %", "- (section 7.3 has it the other way)",
          quotient(gains(max, "ms", "17", 100), gains(max, "ms", "17", 0.1)), 1.05, 0.95, "fewer results"),
    wins("table 4: difference is faster in the drive", published("table 4", "ms"), gain_of_means("ms", "table 4"), LINK + "; its lists are made up here"),
    wins("table 4: difference takes less energy in the drive", published("table 4", "mj"), gain_of_means("mj", "table 4"), WATTS),
    *(claim for place, what in [("16", "difference"), ("18", "ranked difference")] for claim in [
        loses(f"figure {place}: {what} is slower in the drive where the first list is the longer", "- (text)", gains(max, "ms", place, *BELOW_1),
              "nearly all entries are results"),
        wins(f"figure {place}: {what} is faster where the first list is not the longer", "- (text)", gains(min, "ms", place, *FROM_1), LINK),
        wins(f"figure {place}: {what} takes less energy at each skew", "- (text)", gains(min, "mj", place),
             "at skew 0.1 the drive takes as many times as long as the host takes more watts" if place == "16" else LITTLE_LONGER, 1.05)]),
    Claim("figure 16: the drive's time rises from skew 0.01 to 0.1", "- (text)", steps(min, "16", 0.01, 0.1), 1.05, 1.0, "a longer second list to look entries up in"),
    Claim("figure 16: and falls then", "- (text)", steps(max, "16", 0.1, *FROM_1), 0.95, 1.0, "the first list gets shorter"),
    Claim("figure 16: the host's time rises up to skew 1", "- (text)", steps(min, "16", *BELOW_1, 1, side="host"), 1.05, 1.0, "both lists are long there"),
    Claim("figure 17: the drive's time falls with the ratio", "- (text)", steps(max, "17"), 1.0, 1.05, "fewer results"),
    Claim("figure 17: most from 10 to 100 %", "- (text)", last_step("17"), 0.5, 0.25, "there are none at 100 %", "of the fall"),
    Claim("figure 19: ranked difference gains more than difference, mean", "- (text)", quotient(gains(statistics.mean, "ms", "19"), gains(statistics.mean, "ms", "17")), 1.05, 1.0,
          "ten results are sent in place of all"),
    loses("table 5: ranked union is slower in the drive", published("table 5", "ms"), gain_of_means("ms", "table 5"), TWICE),
    wins("table 5: ranked union takes less energy in the drive", published("table 5", "mj"), gain_of_means("mj", "table 5"), LITTLE_LONGER),
    loses("section 7.5: ranked union is slower in the drive, lists varied", f"{1 / SMART_UNION[0]:.2f}", union("ms"), TWICE),
    wins("section 7.5: ranked union takes less energy in the drive, lists varied", str(SMART_UNION[1]), union("mj"), LITTLE_LONGER),
    loses("figure 20: ranked union is slower in the drive with each number of lists", "- (text)", gains(max, "ms", "20"), TWICE),
    wins("figure 20: ranked union takes less energy in the drive with each number of lists", "2.12 (mean of 3.8 lists)", gains(min, "mj", "20"),
         "with eight lists the drive takes three times as long as the host, the ratio of their watts", 1.05),
    Claim("figure 20: the drive falls behind with each list more", "- (text)", gaps, 1.05, 1.0, TWICE),
    loses("table 1: union without ranking does not pay", "- (text)", gains(max, "ms", "union plain"), "it sends nearly all that it reads"),
]

smart_ssd_claim_lines = claim_lines(SMART_SSD)
