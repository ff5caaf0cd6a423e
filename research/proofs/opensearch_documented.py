"""Differences that docs/compatibility.md tells of under "What differs": by the request and the difference."""
import re

# A score, or hits that stand in another order for it.
SCORES = r"^(score of hit|max_score|hits of \(\d)"
# The words of the page that tell of it, what the request has, what the difference is.
DOCUMENTED = [
    ("A phrase with `slop` counts each smallest window", r'"slop": [1-9]|"~[1-9]', SCORES + r"|\.highlight\."),
    ("A word that has no letter in common with a fuzzy one counts a little", r'"fuzziness": (1|"AUTO")|"fuzzy"', SCORES),
    ("minima and maxima of booleans have no `value_as_string`", r'"(min|max)": \{"field": "flag"', r"\.value_as_string: 'missing'"),
    ("OpenSearch: also for `boolean`", r'"flag"', r"^sort of hit \d+\[\d\]: (9223372036854775807, expected 2147483647|-9223372036854775808, expected -2147483648)$"),
    ("buckets below `min_doc_count` do not count for `size`", r'"min_doc_count": [2-9]', r"^(length of )?aggregations\..*(buckets|sum_other_doc_count)"),
    ("so are percentiles, which Elasticsearch", r'"percentiles"', r"^aggregations\..*\.values\."),
    ("the relation is `gte`", r'"(fuzzy|fuzziness|prefix|wildcard|regexp|match_bool_prefix)"|[~*]', r"^total: .*'gte'"),
    ("a deletion of what is not there is not counted", r"^/writes\d+/_doc/none ", r"\._(seq_no|version): "),
    ("A document that is added after its deletion has version 1", r"^/writes\d+/", r"\._version: \d+, expected \d+"),
    ("An **error** has the type of its root", r"", r"^error '([a-z_]+): .*expected 'search_phase_execution_exception: \1:"),
    ("does not find a document whose value has no tokens", r'"(exists|missing)": \{"field": "(title|body)"|_exists_:(title|body)',
     r"^(total|hits of|number of hits|aggregations\.|\.count: )"),
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
