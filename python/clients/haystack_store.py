"""Tries the document store of Haystack with BM25: haystack_store.py URL DOCUMENTS."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from haystack import Document
from haystack.document_stores.types import DuplicatePolicy
from haystack_integrations.components.retrievers.elasticsearch import ElasticsearchBM25Retriever
from haystack_integrations.document_stores.elasticsearch import ElasticsearchDocumentStore

# Without vectors, which its own mapping has.
MAPPING = {
    "properties": {"content": {"type": "text"}},
    "dynamic_templates": [
        {"strings": {"match_mapping_type": "string", "mapping": {"type": "keyword"}}}
    ],
}


def main(url: str, file: str) -> None:
    rows = [json.loads(line) for line in Path(file).read_text().splitlines()][:50]
    store = ElasticsearchDocumentStore(hosts=url, index="passages", custom_mapping=MAPPING)
    documents = [
        Document(id=row["id"], content=row["body"], meta={"kind": row["kind"]}) for row in rows
    ]
    assert store.write_documents(documents, policy=DuplicatePolicy.OVERWRITE) == len(rows)
    assert store.count_documents() == len(rows)
    words = " ".join(rows[7]["body"].split()[:12])
    retriever = ElasticsearchBM25Retriever(document_store=store, top_k=5)
    found = retriever.run(query=words)["documents"]
    assert found[0].id == rows[7]["id"], found
    odd = {"field": "meta.kind", "operator": "==", "value": "odd"}
    found = store.filter_documents(filters=odd)
    assert len(found) == len(rows) // 2, len(found)
    store.delete_documents([rows[7]["id"]])
    assert store.count_documents() == len(rows) - 1


if __name__ == "__main__":
    main(*sys.argv[1:])
