// Tries the client of OpenSearch: node opensearch.js URL DOCUMENTS.
"use strict";

const { Client } = require("@opensearch-project/opensearch");
const { url, documents, word, same, fails, run } = require("./checks.js");

const client = new Client({ node: url });
const all = documents.length;

async function smoke() {
  const { body: info } = await client.info();
  same(info.tagline.includes("Gannet"), true, "info");
  const mappings = { properties: { title: { type: "text" }, kind: { type: "keyword" } } };
  const made = await client.indices.create({ index: "wiki", body: { mappings } });
  same(made.body.acknowledged, true, "create");
  const onDocument = (document) => ({ index: { _index: "wiki", _id: document.id } });
  const done = await client.helpers.bulk({ datasource: documents, onDocument, refreshOnCompletion: true });
  same([done.successful, done.failed], [all, 0], "bulk");
  const body = { query: { match: { title: word } }, aggs: { kinds: { terms: { field: "kind" } } } };
  const { body: found } = await client.search({ index: "wiki", body });
  same(found.hits.hits.length > 0 && found.aggregations.kinds.buckets.length > 0, true, "search");
  let met = 0;
  for await (const _ of client.helpers.scrollDocuments({ index: "wiki", size: 150, body: {} })) met += 1;
  same(met, all, "scroll");
  await fails(client.search({ index: "none" }), 404, "index_not_found_exception");
  await fails(client.search({ index: "wiki", body: { query: { none: {} } } }), 400, "parsing_exception");
  await client.indices.delete({ index: "wiki" });
}

run([smoke]);
