"""Random requests of research/proofs/flights.py, each with the SQL that says the same.

Not a script of its own. A filter is a pair of texts: the query language and SQL. An aggregation
is JSON as Elasticsearch writes it, and flights_sql.py makes SQL of it; what its filters are in SQL
is in `conditions`.
"""
import datetime

KEYWORDS = ["carrier", "origin", "dest", "tailnum"]
# Numbers of which each flight has one, and those of which some have none (NA).
WHOLE = ["month", "day", "sched_dep_time", "sched_arr_time", "flight", "distance", "hour", "minute"]
WITH_GAPS = ["dep_time", "dep_delay", "arr_time", "arr_delay", "air_time"]
# What only the JSON lines have: a fraction, a boolean, and lists of words and of numbers.
DERIVED = {"speed": "double", "late": "boolean", "airports": "words", "delays": "numbers"}
DATE = "time_hour"
ZONES = ["America/New_York", "Europe/Berlin", "Asia/Kolkata", "+05:45"]
BEGIN, DAYS = datetime.datetime(2013, 1, 1), 366
CALENDAR = ["day", "week", "month", "quarter", "year"]


class Requests:
    """Draws what can be asked of one of the two files. `values` are those of each field, `gaps` the numbers that some flights lack."""

    def __init__(self, draw, kind, values, gaps):
        self.draw, self.values, self.is_json = draw, values, kind == "json"
        self.gaps = gaps
        self.numbers = WHOLE + gaps + (["speed"] if self.is_json else [])
        self.words = KEYWORDS + [name for name in WITH_GAPS if name not in gaps]
        self.lists = ["airports", "delays"] if self.is_json else []
        self.conditions = {}

    def maybe(self, share):
        return self.draw.random() < share

    def value(self, field):
        return self.draw.choice(self.values[field])

    # Filters

    def query(self, depth=2):
        if depth and self.maybe(0.5):
            (one, first), (other, second) = self.query(depth - 1), self.query(depth - 1)
            return self.draw.choice([
                (f"({one} AND {other})", f"({first} AND {second})"), (f"({one} OR {other})", f"({first} OR {second})"),
                (f"(NOT {one})", f"(NOT {first})"), (f"(+{one} -{other})", f"({first} AND NOT {second})")])
        text, condition = self.leaf()
        return text, f"coalesce({condition}, false)"

    def leaf(self):
        draw = self.draw
        kind = draw.choice(["number", "number", "range", "range", "range", "word", "word", "whole", "date", "date", "special"])
        field = draw.choice(self.numbers)
        value = self.value(field)
        if kind == "number":
            return f"{field}:={value}", f"{field} = {value}"
        if kind == "range":
            return self.between(field, value, self.value(field))
        if kind == "word":
            field = draw.choice(KEYWORDS)
            value = self.value(field)
            if self.maybe(0.3):
                value = value[:2]
                return f"{field}:{value.lower()}*", f"starts_with({field}, '{value}')"
            return f"{field}:{value}", f"{field} = '{value}'"
        if kind == "whole":
            field = draw.choice(self.words)
            some = [self.value(field) for _ in range(draw.randint(1, 4))]
            return f"{field}:=({' '.join(map(quoted, some))})", f"{field} IN ({', '.join(map(literal, some))})"
        if kind == "date":
            return self.dates()
        return self.special()

    def between(self, field, one, other, condition=None):
        condition = condition or (lambda sign, end: f"{field} {sign} {end}")
        sign = self.draw.choice([">", ">=", "<", "<=", "[]", "{}", "[}", "{]"])
        if len(sign) == 1 or sign[1] == "=":
            return f"{field}:{sign}{one}", condition(sign, one)
        low, high = min(one, other), max(one, other)
        if low == high:
            sign = "[]"
        ends = [">=" if sign[0] == "[" else ">", "<=" if sign[1] == "]" else "<"]
        return f"{field}:{sign[0]}{low} TO {high}{sign[1]}", f"{condition(ends[0], low)} AND {condition(ends[1], high)}"

    def dates(self):
        """An end is a whole day or month: it begins and ends there."""

        def condition(sign, end):
            begin = f"{end}-01" if len(end) == 7 else end
            after = f"TIMESTAMP '{begin}' + INTERVAL 1 {'MONTH' if len(end) == 7 else 'DAY'}"
            return {">": f"{DATE} >= {after}", ">=": f"{DATE} >= TIMESTAMP '{begin}'", "<": f"{DATE} < TIMESTAMP '{begin}'",
                    "<=": f"{DATE} < {after}"}[sign]

        length = self.draw.choice([7, 10])
        some = [(BEGIN + datetime.timedelta(self.draw.randrange(DAYS))).isoformat()[:length] for _ in range(2)]
        return self.between(DATE, *some, condition)

    def special(self):
        if not self.is_json:
            return "*:*", "true"
        field = self.draw.choice([*WITH_GAPS, *DERIVED])
        if field == "late" and self.maybe(0.5):
            return "late:true", "late"
        if field == "airports":
            return f"airports:={(value := self.value('dest'))}", f"list_contains(airports, '{value}')"
        if field == "delays" and self.maybe(0.7):
            low, high = sorted([self.value("dep_delay"), self.value("arr_delay")])
            return f"delays:[{low} TO {high}]", f"len(list_filter(delays, lambda x: x BETWEEN {low} AND {high})) > 0"
        return f"{field}:*", f"{field} IS NOT NULL"

    # Aggregations

    def aggregations(self, depth, at_top=True):
        return {f"{'abcdefgh'[depth]}{number}": self.aggregation(depth, at_top) for number in range(self.draw.choice([1, 1, 2]))}

    def aggregation(self, depth, at_top):
        if depth == 0 or self.maybe(0.15):
            return self.metric()
        kinds = ["terms"] * 4 + ["range", "date_range", "histogram", "histogram", "date_histogram", "date_histogram", "filter", "filters", "missing"]
        kind = self.draw.choice(kinds + (["composite"] * 4 + ["global"] if at_top else []))
        own = {kind: getattr(self, kind)(at_top) if kind != "global" else {}}
        if self.maybe(0.75):
            own["aggs"] = self.aggregations(depth - 1, False)
        if kind == "terms" and self.maybe(0.35):
            self.order_by_metric(own)
        return own

    def order_by_metric(self, own):
        field, metric = self.draw.choice(WHOLE), self.draw.choice(["min", "max", "sum", "avg", "cardinality", "value_count"])
        own.setdefault("aggs", {})["order"] = {metric: {"field": field}}
        own["terms"]["order"] = [{"order": self.draw.choice(["asc", "desc"])}, {"_key": self.draw.choice(["asc", "desc"])}][:self.draw.randint(1, 2)]

    def metric(self):
        kind = self.draw.choice(["min", "max", "sum", "avg", "stats", "extended_stats", "percentiles", "cardinality", "cardinality", "value_count"])
        fields = self.numbers + [DATE] + (["late", "delays"] if self.is_json else [])
        if kind in ("cardinality", "value_count"):
            fields = fields + self.words + self.lists
        field = self.draw.choice(fields)
        own = {"field": field}
        if kind == "percentiles":
            own["percents"] = sorted(self.draw.sample([0, 0.1, 1, 12.5, 25, 50, 75, 90, 99, 99.9, 100], self.draw.randint(1, 4)))
        if field in self.gaps and self.maybe(0.2):
            own["missing"] = self.draw.choice([0, -100, 17])
        return {kind: own}

    def terms(self, _):
        field = self.draw.choice(self.words * 2 + self.numbers + self.lists + [DATE] + (["late"] if self.is_json else []))
        own = {"field": field, "size": self.draw.choice([1, 3, 10, 40, 400])}
        if self.maybe(0.4):
            own["order"] = {self.draw.choice(["_count", "_key"]): self.draw.choice(["asc", "desc"])}
        if self.maybe(0.2):
            own["min_doc_count"] = self.draw.choice([2, 5, 100])
        if field not in [*self.lists, DATE, "late"]:
            some = sorted({self.value(field) for _ in range(self.draw.randint(1, 9))})
            if self.maybe(0.3):
                own[self.draw.choice(["include", "exclude"])] = some
            if self.maybe(0.2):
                own["missing"] = some[0]
        return own

    def range(self, _):
        field = self.draw.choice(self.numbers + [name for name in self.lists if name == "delays"])
        ranges = []
        for _ in range(self.draw.randint(1, 4)):
            low, high = sorted(self.value(field) for _ in range(2))
            ranges.append(self.draw.choice([{"from": low}, {"to": high}, {"from": low, "to": high}]))
        return {"field": field, "ranges": ranges}

    def date_range(self, _):
        ranges = []
        for _ in range(self.draw.randint(1, 3)):
            low, high = sorted((BEGIN + datetime.timedelta(hours=self.draw.randrange(24 * DAYS))).isoformat() for _ in range(2))
            ranges.append(self.draw.choice([{"from": low}, {"to": high}, {"from": low, "to": high}]))
        return {"field": DATE, "ranges": ranges}

    def histogram(self, at_top):
        field = self.draw.choice(self.numbers + [name for name in self.lists if name == "delays"])
        interval = self.draw.choice([7, 10, 60, 100, 0.5, 2.5, 0.1] if field in ("speed", "hour") else [7, 10, 60, 100])
        own = {"field": field, "interval": interval} | ({"offset": interval / 2} if self.maybe(0.2) else {})
        return own | self.histogram_members(at_top, interval, -interval, 3 * interval)

    def date_histogram(self, at_top):
        own = {"field": DATE}
        if self.maybe(0.5):
            hours = self.draw.choice([1, 6, 24, 24 * 7, 24 * 30])
            own["fixed_interval"] = f"{hours}h"
            return own | self.histogram_members(at_top, hours, 1_370_000_000_000 // (hours * 3_600_000) * hours * 3_600_000, 1_380_000_000_000)
        own["calendar_interval"] = self.draw.choice(CALENDAR)
        if self.maybe(0.6):
            own["time_zone"] = self.draw.choice(ZONES)
        return own | self.histogram_members(False, 0, 0, 0)

    def histogram_members(self, at_top, interval, low, high):
        own = {}
        if self.maybe(0.4):
            own["min_doc_count"] = self.draw.choice([1, 10])
        elif at_top and interval and self.maybe(0.3):
            own["extended_bounds"] = {"min": low, "max": high}
        if interval and "extended_bounds" not in own and "offset" not in own and self.maybe(0.1):
            own["hard_bounds"] = {"min": low}
        if self.maybe(0.3):
            own["order"] = {self.draw.choice(["_count", "_key"]): self.draw.choice(["asc", "desc"])}
        return own

    def filter(self, _):
        text, condition = self.query()
        self.conditions[text] = condition
        return text

    def filters(self, at_top):
        own = {"filters": {f"f{number}": self.filter(at_top) for number in range(self.draw.randint(1, 3))}}
        return own | ({"other_bucket_key": "others"} if self.maybe(0.5) else {})

    def missing(self, _):
        return {"field": self.draw.choice([*self.gaps, *(DERIVED if self.is_json else WHOLE)])}

    def composite(self, _):
        sources = []
        for number in range(self.draw.choice([1, 1, 2, 2, 3])):
            field = self.draw.choice([*self.words, *self.numbers, *self.lists, DATE])
            kind, own = "terms", {"field": field}
            if field == DATE:
                kind, own = "date_histogram", own | {"calendar_interval": self.draw.choice(CALENDAR)}
            elif field in self.numbers and self.maybe(0.6):
                kind, own = "histogram", own | {"interval": self.draw.choice([10, 100, 2.5])}
            own |= {"order": self.draw.choice(["asc", "desc"])} | ({"missing_bucket": True} if self.maybe(0.4) else {})
            sources.append({f"s{number}": {kind: own}})
        return {"sources": sources}


def quoted(value):
    """As a whole value of the query language."""
    return f'"{value}"' if isinstance(value, str) else str(value)


def literal(value):
    """In SQL."""
    return f"'{value}'" if isinstance(value, str) else str(value)
