// Asks a server what a program asks of Elasticsearch: node elasticsearch.js URL DOCUMENTS.
"use strict";

const { Client } = require("@elastic/elasticsearch");
const { url, documents, word, same, fails, run } = require("./checks.js");

const client = new Client({ node: url, sniffOnStart: true });
const all = documents.length;
const seventh = documents[7];

async function about() {
  const info = await client.info();
  same([info.version.build_flavor, info.tagline.includes("Gannet")], ["default", true], "info");
  same(await client.ping(), true, "ping");
  same((await client.cluster.health({ wait_for_status: "yellow" })).status, "green", "health");
  same(Object.keys((await client.nodes.info()).nodes).length, 1, "nodes");
  same(Object.keys((await client.nodes.stats()).nodes).length, 1, "statistics of nodes");
  same((await client.cluster.stats()).indices.docs.count, 0, "statistics of the cluster");
}

const mappings = {
  properties: {
    title: { type: "text", fields: { raw: { type: "keyword", ignore_above: 256 } } },
    body: { type: "text", analyzer: "english" },
    kind: { type: "keyword" },
    place: { type: "long" },
    price: { type: "double" },
    day: { type: "date" },
    flag: { type: "boolean" },
  },
};

async function mapping() {
  const settings = { number_of_shards: 1, number_of_replicas: 0 };
  same((await client.indices.create({ index: "wiki", settings, mappings })).acknowledged, true, "create");
  same(await client.indices.exists({ index: "wiki" }), true, "exists");
  same(await client.indices.exists({ index: "none" }), false, "exists");
  same((await client.indices.getMapping({ index: "wiki" })).wiki.mappings.properties.title, mappings.properties.title, "mapping");
  same((await client.indices.getSettings({ index: "wiki" })).wiki.settings.index.number_of_shards, "1", "settings");
  const { tokens } = await client.indices.analyze({ index: "wiki", field: "body", text: "The whales" });
  same(tokens.map((token) => token.token), ["whale"], "analyze");
}

async function bulk() {
  const operation = (document) => ({ index: { _index: "wiki", _id: document.id } });
  const done = await client.helpers.bulk({ datasource: documents, onDocument: operation, flushBytes: 50000, refreshOnCompletion: true });
  same([done.successful, done.failed], [all, 0], "bulk");
  const failed = await client.bulk({ operations: [{ index: { _index: "wiki" } }, { place: "far" }] });
  same([failed.errors, failed.items[0].index.error.type], [true, "document_parsing_exception"], "bulk with an error");
  same((await client.count({ index: "wiki" })).count, all, "count");
}

async function crud() {
  const of = { index: "notes", id: "1" };
  same((await client.get({ index: "wiki", id: seventh.id }))._source, seventh, "get");
  const written = await client.index({ ...of, document: { text: "one" }, refresh: true });
  same([written.result, written._version], ["created", 1], "index");
  const changed = await client.update({ ...of, doc: { more: 2 } });
  same([changed.result, changed._version], ["updated", 2], "update");
  const expected = { if_seq_no: written._seq_no, if_primary_term: written._primary_term };
  await fails(client.index({ ...of, document: {}, ...expected }), 409, "version_conflict_engine_exception");
  await fails(client.create({ ...of, document: {} }), 409, "version_conflict_engine_exception");
  await fails(client.update({ index: "notes", id: "2", doc: {} }), 404, "document_missing_exception");
  same((await client.update({ index: "notes", id: "3", doc: { a: 1 }, doc_as_upsert: true })).result, "created", "upsert");
  same(await client.getSource(of), { text: "one", more: 2 }, "source");
  same((await client.mget({ index: "notes", ids: ["1", "2"] })).docs.map((doc) => doc.found), [true, false], "mget");
  same((await client.delete(of)).result, "deleted", "delete");
  same(await client.exists(of), false, "exists");
  await client.indices.delete({ index: "notes" });
}

async function queries() {
  const found = async (query) => {
    const { hits } = await client.search({ index: "wiki", query, size: all });
    same(hits.total, { value: hits.hits.length, relation: "eq" }, JSON.stringify(query));
    return new Set(hits.hits.map((hit) => hit._id));
  };
  const low = word.toLowerCase();
  const kind = { term: { kind: seventh.kind } };
  for (const [query, count] of [
    [{ match_all: {} }, all],
    [{ match_none: {} }, 0],
    [kind, all / 2],
    [{ terms: { place: [3, 5] } }, 2],
    [{ range: { price: { gte: 5, lt: 15 } } }, 40],
    [{ term: { flag: true } }, documents.filter((one) => one.flag).length],
    [{ exists: { field: "title" } }, all],
    [{ ids: { values: [seventh.id] } }, 1],
    [{ constant_score: { filter: kind } }, all / 2],
    [{ bool: { must_not: kind } }, all / 2],
  ]) {
    same((await found(query)).size, count, JSON.stringify(query));
  }
  for (const query of [
    { match: { title: { query: seventh.title, operator: "and" } } },
    { match_phrase: { title: seventh.title } },
    { match_phrase_prefix: { title: seventh.title.slice(0, -1) } },
    { multi_match: { query: word, fields: ["title^2", "body"] } },
    { term: { "title.raw": seventh.title } },
    { prefix: { title: low.slice(0, 3) } },
    { wildcard: { title: { value: `${low.slice(0, 3)}*` } } },
    { fuzzy: { title: { value: `${low.slice(0, -1)}z` } } },
    { query_string: { query: `title:${word}` } },
    { bool: { must: { match: { title: word } }, filter: kind } },
    { dis_max: { queries: [{ match: { title: word } }, kind] } },
  ]) {
    same((await found(query)).has(seventh.id), true, JSON.stringify(query));
  }
}

async function hits() {
  const { hits } = await client.search({
    index: "wiki",
    query: { match: { title: word } },
    highlight: { fields: { title: {} } },
    _source: ["title"],
    docvalue_fields: [{ field: "day", format: "yyyy" }],
    fields: ["kind"],
    size: 1,
  });
  const hit = hits.hits[0];
  same([Object.keys(hit._source), hit.fields.day], [["title"], ["2024"]], "a hit");
  same([hit.highlight.title[0].includes("<em>"), hit.fields.kind.length], [true, 1], "a hit");
  const met = [];
  for (let search_after; ;) {
    const page = await client.search({ index: "wiki", sort: [{ place: "desc" }], size: 150, search_after });
    if (!page.hits.hits.length) break;
    met.push(...page.hits.hits.map((hit) => hit._source.place));
    search_after = page.hits.hits.at(-1).sort;
  }
  same(met, documents.map((one) => one.place).reverse(), "search_after");
  const collapsed = await client.search({ index: "wiki", collapse: { field: "kind" } });
  same(collapsed.hits.hits.length, 2, "collapse");
}

async function pages() {
  let met = 0;
  for await (const page of client.helpers.scrollDocuments({ index: "wiki", size: 150 })) met += page ? 1 : 0;
  same(met, all, "scroll");
  const { id } = await client.openPointInTime({ index: "wiki", keep_alive: "1m" });
  const page = await client.search({ pit: { id, keep_alive: "1m" }, sort: ["_shard_doc"], size: all });
  same(page.hits.hits.length, all, "point in time");
  same((await client.closePointInTime({ id })).succeeded, true, "close");
  const many = await client.msearch({ searches: [{ index: "wiki" }, { size: 0 }, { index: "none" }, {}] });
  same(many.responses.map((one) => one.status), [200, 404], "msearch");
}

async function aggregations() {
  const field = "price";
  const { aggregations: of } = await client.search({
    index: "wiki",
    size: 0,
    aggs: {
      kinds: { terms: { field: "kind" }, aggs: { mean: { avg: { field } } } },
      months: { date_histogram: { field: "day", calendar_interval: "month", format: "yyyy-MM" } },
      steps: { histogram: { field, interval: 25 } },
      ranges: { range: { field, ranges: [{ to: 10 }, { from: 10 }] } },
      odd: { filter: { term: { kind: "odd" } } },
      both: { filters: { filters: { a: { term: { kind: "odd" } } } } },
      less: { missing: { field: "kind" } },
      all: { global: {} },
      stats: { stats: { field } },
      many: { cardinality: { field: "place" } },
      half: { percentiles: { field, percents: [50] } },
      pairs: { composite: { sources: [{ k: { terms: { field: "kind" } } }] } },
    },
  });
  same(of.kinds.buckets.map((one) => one.doc_count), [all / 2, all / 2], "terms");
  same(of.months.buckets[0].key_as_string, "2024-01", "date_histogram");
  same(of.ranges.buckets.map((one) => one.doc_count), [40, all - 40], "range");
  same([of.odd.doc_count, of.both.buckets.a.doc_count, of.less.doc_count], [all / 2, all / 2, 0], "filters");
  same([of.all.doc_count, of.stats.count, of.many.value], [all, all, all], "metrics");
  same([of.pairs.buckets.length, of.steps.buckets.length], [2, 4], "composite");
}

async function names() {
  await client.indices.updateAliases({ actions: [{ add: { index: "wiki", alias: "now" } }] });
  same(Object.keys(await client.indices.getAlias({ name: "now" })), ["wiki"], "alias");
  same(await client.indices.existsAlias({ name: "now" }), true, "alias");
  await client.indices.putIndexTemplate({ name: "logs", index_patterns: ["logs-*"], priority: 10, template: { mappings } });
  await client.index({ index: "logs-1", document: { kind: "a b" } });
  same((await client.count({ index: "logs-1", query: { term: { kind: "a b" } } })).count, 1, "template");
  await client.indices.delete({ index: "logs-1" });
  await client.indices.deleteIndexTemplate({ name: "logs" });
  same((await client.fieldCaps({ index: "wiki", fields: "*" })).fields.place.long.aggregatable, true, "field_caps");
  const query = { match: { kind: "odd" } };
  same((await client.explain({ index: "wiki", id: documents[1].id, query })).matched, true, "explain");
  same((await client.indices.validateQuery({ index: "wiki", query })).valid, true, "validate");
  same((await client.cat.indices({ format: "json", s: "index" })).at(-1).index, "wiki", "cat");
}

async function changes() {
  const moved = await client.reindex({ source: { index: "wiki" }, dest: { index: "copy" } });
  same(moved.created, all, "reindex");
  const query = { term: { kind: "odd" } };
  same((await client.deleteByQuery({ index: "copy", query })).deleted, all / 2, "delete_by_query");
  same((await client.updateByQuery({ index: "copy" })).updated, all / 2, "update_by_query");
  await client.indices.forcemerge({ index: "copy" });
  await client.indices.delete({ index: "copy" });
}

async function errors() {
  await fails(client.search({ index: "none" }), 404, "index_not_found_exception");
  await fails(client.indices.create({ index: "wiki" }), 400, "resource_already_exists_exception");
  await fails(client.search({ index: "wiki", query: { mtach: { title: "x" } } }), 400, "parsing_exception");
  await fails(client.index({ index: "wiki", document: { place: "far" } }), 400, "document_parsing_exception");
  await fails(client.ilm.getLifecycle(), 400, "illegal_argument_exception");
  same((await client.indices.delete({ index: "wiki" })).acknowledged, true, "delete");
}

run([about, mapping, bulk, crud, queries, hits, pages, aggregations, names, changes, errors]);
