"""Tries the store of LangChain with BM25: langchain_store.py URL DOCUMENTS."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from langchain_elasticsearch import BM25Strategy, ElasticsearchStore


def main(url: str, file: str) -> None:
    documents = [json.loads(line) for line in Path(file).read_text().splitlines()][:50]
    store = ElasticsearchStore("passages", es_url=url, strategy=BM25Strategy())
    texts = [document["body"] for document in documents]
    metadata = [{"kind": document["kind"], "title": document["title"]} for document in documents]
    ids = [document["id"] for document in documents]
    assert store.add_texts(texts, metadata, ids=ids) == ids
    words = " ".join(texts[7].split()[:12])
    found = store.similarity_search(words, k=3)
    assert found[0].page_content == texts[7], found
    odd = [{"term": {"metadata.kind.keyword": "odd"}}]
    found = store.similarity_search_with_score(words, k=50, filter=odd)
    assert found and all(one.metadata["kind"] == "odd" and score > 0 for one, score in found)
    assert store.delete(ids=[ids[7]])
    assert store.similarity_search(words, k=1)[0].page_content != texts[7]


if __name__ == "__main__":
    main(*sys.argv[1:])
