"""The table of how many queries of each set the peers answer as Gannet does, by `research/peers/run.py`."""
from columns import ENGINES, Column, Table, tenths


def answer_lines(result):
    """For each set the share of queries, by peer."""
    return {f"`{name}`": [shares] for name, shares in result["agreements"].items()}


def answer_columns(result):
    asked = [name for name in ENGINES if any(name in shares for shares in result["agreements"].values())]
    return [Column(f"{ENGINES[name]}, %", share_of(name), tenths) for name in asked]


def share_of(name):
    return lambda rows: None if rows[0].get(name) is None else 100 * rows[0][name]


ANSWERS = Table("set", answer_lines, answer_columns)
