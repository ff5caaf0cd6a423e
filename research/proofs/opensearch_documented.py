"""Differences that docs/compatibility.md tells of under "What differs": by the request and the difference."""
import re

SCORES = r"^(score of hit|max_score|hits of \(\d)"
# The words of the page that tell of it, what the request has, what the difference is.
DOCUMENTED = [
    ("Words that a fuzzy word stands for", r'"fuzz|~|match_phrase_prefix', SCORES),
    ("a keyword the number of its values counts as its length", r'"(tag|title\.raw)"|tag:', SCORES),
    ("A boolean that is asked for scores 1", r'"flag"', SCORES),
    ("minima and maxima of booleans have no `value_as_string`", r'"flag"', r"value_as_string"),
    ("**Missing values** are null", r'"sort"', r"^sort of hit \d+\[\d\]: None"),
    ("the relation is `gte`", r"fuzz|prefix|wildcard|~|\*", r"^total: .*'gte'"),
    ("There are no `version` and", r"version", r"not there|unrecognized parameter: \[version"),
    ("a deletion of what is not there", r"/writes", r"_seq_no"),
    ("An **error** has the type of its root", r"", r"^error '([a-z_]+): .*expected 'search_phase_execution_exception: \1:"),
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
