// Tries elasticdump: documents into an index, and the index with its mapping into files.
"use strict";

const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { url, documents, same, run } = require("./checks.js");

const program = path.join(process.env.NODE_PATH, "elasticdump", "bin", "elasticdump");

function dump(input, output, type) {
  execFileSync(process.execPath, [program, `--input=${input}`, `--output=${output}`, `--type=${type}`, "--limit=50"], { stdio: "pipe" });
}

async function smoke() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "elasticdump-"));
  const [mapping, given, taken] = ["mapping", "given", "taken"].map((name) => path.join(folder, name));
  const properties = { title: { type: "text" }, kind: { type: "keyword" } };
  fs.writeFileSync(mapping, JSON.stringify({ wiki: { mappings: { properties } } }));
  fs.writeFileSync(given, documents.map((one) => `${JSON.stringify({ _index: "wiki", _id: one.id, _source: one })}\n`).join(""));
  dump(mapping, `${url}/wiki`, "mapping");
  dump(given, `${url}/wiki`, "data");
  dump(`${url}/wiki`, taken, "data");
  const rows = fs.readFileSync(taken, "utf8").trim().split("\n").map((line) => JSON.parse(line));
  const sources = new Map(rows.map((row) => [row._id, row._source]));
  same(sources.size, documents.length, "documents");
  for (const one of documents) same(sources.get(one.id), one, "a document");
  fs.rmSync(mapping);
  dump(`${url}/wiki`, mapping, "mapping");
  same(JSON.parse(fs.readFileSync(mapping, "utf8")).wiki.mappings.properties.kind.type, "keyword", "mapping");
  fs.rmSync(folder, { recursive: true });
}

run([smoke]);
