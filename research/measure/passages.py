#!/usr/bin/env python3
"""Articles as passages: JSON lines with id, title and body from standard input, each body cut where a line or a sentence ends once a
passage has 110 words. The ID of a passage is that of its article, '#', and its number from 1 on."""
import argparse
import json
import re
import sys

WORDS = 110
# Behind a line's end, and between the end of a sentence and a capital letter or a quote.
ENDS = re.compile(r"\n+|(?<=[.!?]) (?=[A-Z\"])")


def passages(text):
    """The passages of a text; the last may be short."""
    passage, words = [], 0
    for sentence in filter(None, map(str.strip, ENDS.split(text))):
        passage.append(sentence)
        words += len(sentence.split())
        if words >= WORDS:
            yield " ".join(passage)
            passage, words = [], 0
    if passage:
        yield " ".join(passage)


def main():
    argparse.ArgumentParser(description=__doc__).parse_args()
    for line in sys.stdin:
        article = json.loads(line)
        for number, passage in enumerate(passages(article["body"]), 1):
            print(json.dumps({"id": f"{article['id']}#{number}", "title": article["title"], "body": passage}, ensure_ascii=False))


main()
