"""Differences that docs/compatibility.md tells of under "What differs": by the request and the difference."""
import re

SCORES = r"^(score of hit|max_score|hits of \(\d)"
# The words of the page that tell of it, what the request has, what the difference is.
DOCUMENTED = [
    ("Words that a fuzzy word stands for", r'"fuzz|~|match_phrase_prefix', SCORES),
    ("a keyword the number of its values counts as its length", r'"(tag|title\.raw)"|tag:', SCORES),
    ("**Missing values** are null", r'"sort"', r"^sort of hit \d+\[\d\]: None"),
    ("the relation is `gte`", r"fuzz|prefix|wildcard|~|\*", r"^total: .*'gte'"),
    ("There are no `version` and", r"version", r"not there|unrecognized parameter: \[version"),
    ("an update makes no index", r"_update", r"index_not_found_exception"),
    ("Strings that documents bring become no `date`", r"/writes", r"failed to parse field \[(at|day)\] of type \[long\]"),
    ("does not find a document whose value has no tokens", r"exists|missing|title|body", r"^(total|hits of|number of hits)"),
]
# Types of errors that Elasticsearch 8 names otherwise than OpenSearch.
NAMES = {
    "mapper_parsing_exception": "document_parsing_exception",
    "json_parse_exception": "x_content_parse_exception",
    "json_e_o_f_exception": "x_content_parse_exception",
    "i_o_exception": "x_content_parse_exception",
}


def documented(request, difference):
    """The words of the page that tell of a difference; None if there are none."""
    return next((words for words, asked, found in DOCUMENTED if re.search(asked, request) and re.search(found, difference)), None)
