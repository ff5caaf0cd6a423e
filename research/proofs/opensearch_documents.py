"""Documents with values that are easy to get wrong, the mapping of their fields, and words to ask for."""
import copy
import json
import subprocess

from folders import ROOT

SAMPLE = ROOT / "sample" / "sample.jsonl.zst"
SAMPLED, MADE = 300, 500

MAPPING = {"properties": {
    "title": {"type": "text", "fields": {"raw": {"type": "keyword", "ignore_above": 200}}},
    "body": {"type": "text"},
    "tag": {"type": "keyword"},
    "word": {"type": "keyword"},
    "n": {"type": "long"},
    "small": {"type": "integer"},
    "price": {"type": "double"},
    "at": {"type": "date"},
    "day": {"type": "date", "format": "yyyy-MM-dd||epoch_millis"},
    "flag": {"type": "boolean"},
}}


def peer_mapping():
    """The same for OpenSearch 3, whose keywords are scored as in Elasticsearch and Lucene on request alone."""
    mapping = copy.deepcopy(MAPPING)
    for field in (*mapping["properties"].values(), mapping["properties"]["title"]["fields"]["raw"]):
        if field["type"] == "keyword":
            field["use_similarity"] = True
    return mapping


SETTINGS = {"number_of_shards": 1, "number_of_replicas": 0}

TAGS = ["alpha", "Beta", "beta", "beta gamma", "2020", "2020-05-01", "Ünïcode", "straße", "日本語", "a/b", "x:y", "-7", "true", "zz*", "emoji 🐋"]
WORDS = ["whale", "ship", "Sea", "sea", "the", "running", "run", "congress", "government", "peace", "war", "harpoon", "naïve", "café",
         "cafe", "über", "1999", "3.14", "wi-fi", "o'clock", "can't", "foo_bar", "x", "日本", "東京", "привет", "Ångström", "🐋"]
NUMBERS = [0, 1, 2, 3, 5, 7, 10, -1, -5, -100, 42, 1000, 2**31, -2**40, 9007199254740991]
PRICES = [0, 0.5, 1.25, 9.99, 10, -3.75, 1e10, 1e-7, 100, 33.333333333]


def sampled():
    """The first documents of the sample, with values of the other fields by their numbers."""
    text = subprocess.run(["zstd", "-dcq", SAMPLE], capture_output=True, check=True).stdout.decode()
    lines = text.splitlines()
    chosen = lines[::max(1, len(lines) // SAMPLED)][:SAMPLED]
    for number, line in enumerate(chosen):
        source = json.loads(line)
        document = {"title": source["title"], "body": source["body"], "n": number % 50, "price": number / 4, "flag": number % 3 == 0,
                    "tag": source.get("party", source.get("work", "none")), "word": source["title"].split()[0]}
        if "year" in source:
            document["at"] = f"{source['year']}-01-{1 + number % 28:02}"
            document["small"] = source["year"]
        yield source["id"].replace("/", "-"), document


def made(random):
    """Documents of a seeded generator: values that are missing, several, empty, negative, in other letters."""
    for number in range(MADE):
        yield f"m{number}", document(random)


def document(random):
    out = {}
    if random.random() < 0.9:
        out["title"] = text(random, 1, 6)
    if random.random() < 0.9:
        out["body"] = text(random, 0, 40) if random.random() < 0.95 else [text(random, 1, 8), text(random, 1, 8)]
    for name, values in (("tag", TAGS), ("word", WORDS), ("n", NUMBERS), ("price", PRICES), ("flag", [True, False])):
        value = some(random, values, several=name not in ("flag", "word"))
        if value is not None:
            out[name] = value
    if random.random() < 0.7:
        out["small"] = random.randint(-20, 20)
    if random.random() < 0.8:
        out["at"] = instant(random)
    if random.random() < 0.6:
        out["day"] = f"{random.randint(1990, 2030)}-{random.randint(1, 12):02}-{random.randint(1, 28):02}"
    if random.random() < 0.1:
        out[random.choice(list(out) or ["n"])] = None
    return out


def some(random, values, several):
    """A value, several, an empty list, or none."""
    what = random.random()
    if what < 0.15:
        return None
    if what < 0.18:
        return []
    if what < 0.35 and several:
        return [random.choice(values) for _ in range(random.randint(2, 4))]
    return random.choice(values)


def text(random, least, most):
    return random.choice([" ", " ", " ", ", ", ". ", " - "]).join(random.choice(WORDS) for _ in range(random.randint(least, most)))


def instant(random):
    """A date in one of the forms that the default format reads.

    It is no number below 0, which Elasticsearch takes for a year.
    """
    year, month, day = random.randint(1960, 2030), random.randint(1, 12), random.randint(1, 28)
    hour, minute, second, ms = random.randint(0, 23), random.randint(0, 59), random.randint(0, 59), random.randint(0, 999)
    date = f"{year}-{month:02}-{day:02}"
    return random.choice([
        date, f"{year}-{month:02}", f"{year}", f"{date}T{hour:02}:{minute:02}:{second:02}Z", f"{date}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z",
        f"{date}T{hour:02}:{minute:02}:{second:02}+02:00", random.randint(10**5, 2 * 10**12)])
