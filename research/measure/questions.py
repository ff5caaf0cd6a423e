"""Questions to any corpus: words, patterns and phrases from a sample of its documents, the same
at every run.
"""
import json
import re
from collections import Counter

SAMPLED = 2000
# Of the documents of a sample together, so that large ones end it early.
SAMPLED_BYTES = 16 << 20
WORD = re.compile(r"\w+")
PHRASE_WORDS = (2, 16, 128, 1024)
BENCH_QUERIES = 200
# Of the words by which a tenth of the documents is found: how many are looked at, and taken at
# most.
WORDS_TRIED, WORDS_ASKED = 5000, 500


class Questions:
    """What is asked of an index of the corpus: `searches`, `bench_lines` and `tenth`. The sample
    itself is not kept.
    """

    def __init__(self, path):
        bodies = [document.get("body", "") for document in sample(path)]
        texts = [WORD.findall(body.lower()) for body in bodies]
        frequency = Counter(word for text in texts for word in set(text))
        frequent = [word for word, _ in frequency.most_common() if len(word) >= 4 and word.isascii()]
        if not frequent:
            raise ValueError(f"{path} has no words of four letters or more in its sample: expected text in `body`")
        self.searches = searches(frequent, bodies)
        self.bench_lines = bench_lines(frequent, texts)
        self.tenth = tenth(frequent, frequency, texts)


def searches(frequent, bodies):
    """Arguments of `gannet search` by name: a query, and options behind it."""
    first, second, third = (frequent * 3)[:3]
    long = next((word for word in frequent if len(word) >= 7), first)
    asked = {
        "fuzzy": [f"body:{long[:-1]}~2"],
        "prefix": [f"body:{first[:3]}*"],
        "wildcard": [f"body:{first[0]}?{first[2]}*{first[-1]}"],
        "top": [f"body:{first} body:{second} body:{third}", "-k", 10_000],
        "highlight": [f"body:{first} body:{second}", "-k", 100, "--highlight", "body"],
    }
    for count in PHRASE_WORDS:
        asked[f"phrase-{count}"] = [f'body:"{" ".join(phrase(bodies, count))}"']
    return asked


def phrase(bodies, count):
    """So many words that follow each other in a document; where none is so long, in several
    documents.
    """
    words = []
    # Long ones first, in their order.
    for body in sorted(bodies, key=lambda body: len(body) < 10 * count):
        # Parts of the text as they are, so that the index finds the same words; less what ends a
        # phrase in a query.
        for part in body.replace('"', " ").replace("\\", " ").split():
            size = len(WORD.findall(part))
            if size > count:
                break
            words, count = [*words, part], count - size
            if count == 0:
                return words
    return words


def bench_lines(frequent, texts):
    """Lines of a file for `gannet bench`: words from the most frequent to rare ones, two of
    them, and phrases.
    """
    lines = []
    step = max(1, len(frequent) // BENCH_QUERIES)
    for one, two in zip(frequent[::step], frequent[1::step] or frequent):
        lines += [f"term\t{one}", f"and\t{one} {two}", f"or\t{one} {two}"]
    lines += [f"phrase\t{' '.join(text[:2])}" for text in texts[:BENCH_QUERIES] if len(text) > 1]
    return list(dict.fromkeys(lines))[:4 * BENCH_QUERIES]


def tenth(frequent, frequency, texts):
    """A query that finds about a tenth of the documents: words that are together in so many of
    the sample.
    """
    wanted = max(1, len(texts) // 10)
    having = {word: set() for word in [word for word in frequent if frequency[word] <= wanted][:WORDS_TRIED]}
    for number, text in enumerate(texts):
        for word in set(text) & having.keys():
            having[word].add(number)
    chosen, found = [], set()
    for word, numbers in having.items():
        if len(found | numbers) <= wanted:
            chosen.append(word)
            found |= numbers
        if len(found) == wanted or len(chosen) == WORDS_ASKED:
            break
    return " ".join(f"body:{word}" for word in chosen or frequent[:1])


def sample(path):
    """Documents from places all over the file, at most `SAMPLED`; all of them where the file is
    small.
    """
    size, read, end = path.stat().st_size, 0, 0
    with open(path, "rb") as lines:
        for number in range(SAMPLED):
            if (start := number * size // SAMPLED) < end and end < size:
                start = end
            if start < end or start >= size or read > SAMPLED_BYTES:
                break
            lines.seek(start)
            if start not in (0, end):
                lines.readline()  # The rest of the line that the place is in.
            line = lines.readline()
            end, read = lines.tell(), read + len(line)
            if line.strip():
                yield json.loads(line)
