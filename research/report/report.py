"""The tables of a run: one for each memory limit and number of threads, a line for each set."""
import statistics

from engines import COMPARED

# Title, and where a row of `bench` has the figure.
FIGURES = [
    ("queries/s", lambda row: row["qps"]),
    ("KB/query", lambda row: row["bytes_read_per_query"]["os"] / 1000),
    ("reads/query", lambda row: reads(row)),
    ("CPU us/query", lambda row: row["cpu_us_per_query"]),
    ("p99 us", lambda row: row["latency_us_p99"]),
]


def reads(row):
    """Reads of an engine that does them itself; for a mapped index the page faults that had to wait for the device."""
    return row["major_faults_per_query"] if row["reads_per_query"] is None else row["reads_per_query"]


def summary(rows):
    """The medians of the repeated runs of one engine, with the spread of its rate; None without a whole run."""
    whole = [row for row in rows if "qps" in row]
    if not whole:
        return None
    figures = {title: statistics.median(figure(row) for row in whole) for title, figure in FIGURES}
    rounds = [row["rounds_per_query"] for row in whole if row["rounds_per_query"] is not None]
    rates = [row["qps"] for row in whole]
    return figures | {
        "rounds/query": statistics.median(rounds) if rounds else None,
        "spread": (max(rates) - min(rates)) / max(rates),
        "runs": len(whole),
    }


def table(title, rows, engines):
    """Text for people: `rows` is a list of (set, {engine: summary}, {peer: agreement})."""
    headings = "".join(f"{heading:>13}" for heading, _ in FIGURES)
    lines = [title, "", f"{'set':<22}{'':<12}{headings}{'rounds':>8}{'spread':>8}{'agrees':>8}{'ratio':>7}"]
    for name, summaries, agreements in rows:
        for engine in engines:
            lines.append(line(name, engine, summaries, agreements))
            name = ""
    return "\n".join(lines) + "\n"


def line(name, engine, summaries, agreements):
    figures = summaries.get(engine)
    start = f"{name:<22}{engine:<12}"
    if figures is None:
        return start + "  no run came to its end"
    cells = "".join(f"{number(figures[title]):>13}" for title, _ in FIGURES)
    rounds = "" if figures["rounds/query"] is None else f"{figures['rounds/query']:.2f}"
    agrees = f"{agreements[engine]:.1%}" if engine in agreements else ""
    ratio = against_better_peer(summaries) if engine == "gannet" else None
    return start + cells + f"{rounds:>8}{figures['spread']:>8.0%}{agrees:>8}" + (f"{ratio:>7.2f}" if ratio else "")


def against_better_peer(summaries):
    """Gannet's rate divided by that of the faster peer, or None where either is missing."""
    peers = [summaries[peer]["queries/s"] for peer in COMPARED if summaries.get(peer)]
    ours = summaries.get("gannet")
    return ours["queries/s"] / max(peers) if ours and peers else None


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


def figures(title, heads, rows):
    """Text for people: `rows` is {name: numbers}, a number for each head, or None."""
    widths = [max(12, len(head) + 2) for head in heads]
    lines = [title, " " * 30 + "".join(f"{head:>{width}}" for head, width in zip(heads, widths))]
    for name, values in rows.items():
        cells = ["-" if value is None else number(value) for value in values]
        lines.append(f"{name:<30}" + "".join(f"{cell:>{width}}" for cell, width in zip(cells, widths)))
    return "\n".join(lines) + "\n"
