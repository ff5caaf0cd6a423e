"""Aggregations of research/proofs/flights.py as SQL of DuckDB.

Not a script of its own. Each aggregation becomes a query of its own. Below it is a relation with
the rows of its buckets: a column `pN` more for each key of a bucket above.
"""
import json
import re

from flights_requests import DATE, literal

SUB_ZONES = {"+05:45": "Asia/Kathmandu"}  # DuckDB knows no offsets; this one had it all the year.
STEPS = {"day": "1 DAY", "week": "7 DAY", "month": "1 MONTH", "quarter": "3 MONTH", "year": "1 YEAR"}
BUCKETS = ["terms", "range", "date_range", "histogram", "date_histogram", "filter", "filters", "missing", "global", "composite"]
# These have all their buckets, also those without documents.
ALWAYS = {"range", "date_range", "filter", "filters", "missing", "global"}
STATS = {"min": "min({v})", "max": "max({v})", "sum": "coalesce(sum({v}), 0)", "avg": "avg({v})", "count": "count({v})"}
METRICS = {
    **{name: {"value": STATS[name]} for name in ("min", "max", "sum", "avg")}, "stats": STATS, "value_count": {"value": "count({v})"},
    "cardinality": {"value": "count(DISTINCT {v})"},
    "extended_stats": STATS | {"sum_of_squares": "sum({v}::DOUBLE * {v})", "variance": "var_pop({v})", "variance_sampling": "var_samp({v})",
                               "std_deviation": "stddev_pop({v})"}}
OF_NOTHING = {"sum": 0, "count": 0}


def kind_of(own):
    kind = next(name for name in own if name != "aggs")
    return kind, own[kind], own.get("aggs", {})


class Oracle:
    """What DuckDB answers, by aggregation and by the keys of the buckets above it."""

    def __init__(self, base, lists, conditions, aggs, where):
        self.base, self.lists, self.conditions = base, lists, conditions
        self.rows = {}
        # Of the other columns a copy would only take time.
        said = json.dumps(aggs) + " ".join(condition for text, condition in conditions.items() if text in json.dumps(aggs))
        columns = [name for name, *_ in base.execute("SELECT * FROM docs LIMIT 0").description if re.search(rf"\b{name}\b", said)]
        self.columns = ", ".join(columns) or "1"
        self.ask(aggs, (), f"SELECT {self.columns} FROM docs WHERE {where}", [])

    def ask(self, aggs, path, rows, shown):
        # Each query of the rows would compute them again.
        table = f"rows{len(path)}"
        self.base.execute(f"CREATE OR REPLACE TEMP TABLE {table} AS {rows}")
        rows = f"SELECT * FROM {table}"
        for name, own in aggs.items():
            kind, given, below = kind_of(own)
            if kind in BUCKETS:
                self.buckets(own, (*path, name), rows, shown)
            else:
                self.metric(kind, given, (*path, name), rows, shown)

    def keep(self, path, above, sql):
        found = self.rows.setdefault(path, {})
        for row in self.base.execute(sql).fetchall():
            found.setdefault(row[:above], []).append(row[above:])

    def metric(self, kind, given, path, rows, shown):
        field = given["field"]
        value = f"coalesce({field}, {given['missing']})" if "missing" in given else field
        if field in self.lists:
            rows, value = f"SELECT *, unnest({field}) AS each FROM ({rows})", "each"
        if kind not in ("cardinality", "value_count"):
            value = f"epoch_ms({value})" if field == DATE else f"{value}::INT" if field == "late" else value
        if kind == "percentiles":
            figures = [f"quantile_cont({value}::DOUBLE, {percent}e0 / 100e0)" for percent in given["percents"]]
        else:
            figures = [figure.format(v=value) for figure in METRICS[kind].values()]
        self.keep(path, len(shown), f"SELECT {', '.join([*shown, *figures])} FROM ({rows}) {grouped(len(shown))}")

    def buckets(self, own, path, rows, shown):
        kind, given, below = kind_of(own)
        above = len(shown)
        inside, keys, fill = getattr(self, f"of_{kind}")(given, rows, f"p{above}")
        names = [f"p{number}" for number in range(above + len(keys))]
        by, order = "", ", ".join(self.order(kind, given, names))
        for metric, of in [kind_of(child)[:2] for name, child in below.items() if name == "order"]:
            by = ", " + METRICS[metric]["value"].format(v=of["field"]) + " AS by_metric"
        counts = f"SELECT {', '.join(names)}, count(*) AS n{by} FROM ({inside}) GROUP BY ALL"
        if fill and given.get("min_doc_count", 0) == 0:
            counts = fill(counts, names[:-1], names[-1])
        over = f"PARTITION BY {', '.join(names[:above])}" if above else ""
        counts = f"SELECT *, sum(n) OVER ({over}) AS everything FROM ({counts})"
        ranked = f"SELECT *, row_number() OVER ({over} ORDER BY {order}) AS place FROM ({counts}) WHERE n >= {given_least(given)}"
        chosen = f"SELECT * FROM ({ranked}) WHERE place <= {given['size'] if kind == 'terms' else 1 << 40}"
        self.keep(path, above, f"SELECT {', '.join([*shown, *keys, 'n', 'everything'])} FROM ({chosen}) ORDER BY place")
        if below:
            same = " AND ".join(f"inside.{name} IS NOT DISTINCT FROM chosen.{name}" for name in names)
            self.ask(below, path, f"SELECT inside.* FROM ({inside}) inside SEMI JOIN ({chosen}) chosen ON {same}", [*shown, *keys])

    def order(self, kind, given, names):
        if kind == "composite":
            sources = [next(iter(next(iter(source.values())).values())) for source in given["sources"]]
            for name, source in zip(names, sources):
                yield f"{name} DESC NULLS LAST" if source["order"] == "desc" else f"{name} ASC NULLS FIRST"
            return
        wanted = given.get("order", {"_count": "desc"} if kind == "terms" else {}) if isinstance(given, dict) else {}
        for one in wanted if isinstance(wanted, list) else [wanted]:
            for by, direction in one.items():
                yield f"{ {'_count': 'n', '_key': names[-1], 'order': 'by_metric'}[by] } {direction} NULLS LAST"
        yield f"{names[-1]} ASC"

    def valued(self, field, rows, key, as_key="{}", missing=None, with_null=False):
        """The rows by the keys of the values of a field: each key once."""
        if field in self.lists:
            values = f"list_distinct(list_transform({field}, lambda x: {as_key.format('x')}))"
            values = f"CASE WHEN {field} IS NULL THEN [NULL] ELSE {values} END" if with_null else values
            return f"SELECT *, unnest({values}) AS {key} FROM ({rows})"
        value = field if missing is None else f"coalesce({field}, {literal(missing)})"
        return f"SELECT *, {as_key.format(value)} AS {key} FROM ({rows})" + ("" if with_null else f" WHERE {value} IS NOT NULL")

    def of_terms(self, given, rows, key):
        field = given["field"]
        as_key = "epoch_ms({})" if field == DATE else "{}::INT" if field == "late" else "{}"
        rows = self.valued(field, rows, key, as_key, given.get("missing"))
        for member, sign in (("include", "IN"), ("exclude", "NOT IN")):
            if member in given:
                rows = f"SELECT * FROM ({rows}) WHERE {key} {sign} ({', '.join(map(literal, given[member]))})"
        return rows, [key], None

    def of_range(self, given, rows, key, as_end=str):
        field, parts = given["field"], []
        for number, own in enumerate(given["ranges"]):
            ends = [f"{{}} {sign} {as_end(own[name])}" for name, sign in (("from", ">="), ("to", "<")) if name in own]
            each = " AND ".join(ends)
            is_in = f"len(list_filter({field}, lambda x: {each.replace('{}', 'x')})) > 0" if field in self.lists else each.replace("{}", field)
            parts.append(f"SELECT *, {number} AS {key} FROM ({rows}) WHERE {is_in}")
        return " UNION ALL ".join(parts), [key], None

    def of_date_range(self, given, rows, key):
        return self.of_range(given, rows, key, lambda end: f"TIMESTAMP '{end}'")

    def of_histogram(self, given, rows, key):
        interval, offset = given["interval"], given.get("offset", 0)
        as_key = f"floor(({{}} - {offset}::DOUBLE) / {interval}::DOUBLE)::BIGINT"
        return self.intervals(given, self.valued(given["field"], rows, key, as_key), key, as_key, f"({key} * {interval}::DOUBLE + {offset}::DOUBLE)")

    def of_date_histogram(self, given, rows, key):
        if "fixed_interval" in given:
            wide = int(given["fixed_interval"].removesuffix("h")) * 3_600_000
            return self.intervals(given, self.valued(DATE, rows, key, f"epoch_ms({{}}) // {wide}"), key, f"({{}} // {wide})", f"({key} * {wide})")
        unit, zone = given["calendar_interval"], given.get("time_zone", "UTC")
        zone = SUB_ZONES.get(zone, zone)
        rows = self.valued(DATE, rows, key, f"date_trunc('{unit}', timezone('{zone}', timezone('UTC', {{}})))")
        return rows, [f"epoch_ms(timezone('{zone}', {key}))"], self.filled(f"generate_series(least, greatest, INTERVAL {STEPS[unit]})", "")

    def intervals(self, given, rows, key, as_key, shown):
        if "hard_bounds" in given:
            rows = f"SELECT * FROM ({rows}) WHERE {shown} >= {given['hard_bounds']['min']}"
        ends = given.get("extended_bounds", {}).values()
        more = "".join(f" UNION ALL SELECT {as_key.format(end)}, 0" for end in ends)
        return rows, [shown], self.filled("range(least, greatest + 1)", more)

    def filled(self, series, more):
        """Buckets with the empty ones between them; the bounds in `more` are those of one at the top."""

        def fill(counts, above, key):
            above = "".join(f"{name}, " for name in above)
            counts = f"SELECT {above}{key}, n FROM ({counts}){more}"
            ends = f"SELECT {above}min({key}) AS least, max({key}) AS greatest FROM ({counts}) {grouped(above.count(','))}"
            empty = f"SELECT {above}unnest({series}) AS {key}, 0 AS n FROM ({ends})"
            return f"SELECT {above}{key}, sum(n)::BIGINT AS n FROM ({counts} UNION ALL {empty}) GROUP BY ALL"

        return fill

    def of_filter(self, given, rows, key):
        return f"SELECT *, 0 AS {key} FROM ({rows}) WHERE {self.conditions[given]}", [key], None

    def of_filters(self, given, rows, key):
        named = {name: self.conditions[text] for name, text in given["filters"].items()}
        if "other_bucket_key" in given:
            named[given["other_bucket_key"]] = f"NOT ({' OR '.join(named.values())})"
        return " UNION ALL ".join(f"SELECT *, '{name}' AS {key} FROM ({rows}) WHERE {condition}" for name, condition in named.items()), [key], None

    def of_missing(self, given, rows, key):
        return f"SELECT *, 0 AS {key} FROM ({rows}) WHERE {given['field']} IS NULL", [key], None

    def of_global(self, given, rows, key):
        return f"SELECT {self.columns}, 0 AS {key} FROM docs", [key], None

    def of_composite(self, given, rows, key):
        names = []
        for number, source in enumerate(given["sources"]):
            kind, own = next(iter(next(iter(source.values())).items()))
            names.append(f"p{number}")
            as_key = "{}"
            if kind == "histogram":
                as_key = f"floor({{}} / {own['interval']}::DOUBLE) * {own['interval']}::DOUBLE"
            elif kind == "date_histogram":
                as_key = f"epoch_ms(date_trunc('{own['calendar_interval']}', {{}}))"
            rows = self.valued(own["field"], rows, names[-1], as_key, with_null="missing_bucket" in own)
        return rows, names, None


def given_least(given):
    return given.get("min_doc_count", 0) if isinstance(given, dict) else 0


def grouped(above):
    return f"GROUP BY {', '.join(map(str, range(1, above + 1)))}" if above else ""
