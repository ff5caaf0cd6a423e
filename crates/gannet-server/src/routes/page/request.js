// The search as programs send it. Each text finds the same documents in the same order.

import { pathOf } from "./api.js";
import { element } from "./element.js";
import { bodyOf } from "./search.js";

const shell = (text) => `'${text.replaceAll("'", "'\\''")}'`;

export function curlOf(state, origin) {
  const url = origin + pathOf(state.index, "/search");
  return `curl -s ${shell(url)} -H 'Content-Type: application/json' -d ${shell(JSON.stringify(bodyOf(state)))}`;
}

export function pythonOf(state, origin) {
  const url = JSON.stringify(origin + pathOf(state.index, "/search"));
  // Strings, numbers and lists of JSON are those of Python, too.
  const body = JSON.stringify(bodyOf(state), null, 4);
  return `import json
from urllib.request import Request, urlopen

url = ${url}
body = ${body}
request = Request(url, json.dumps(body).encode())
request.add_header("Content-Type", "application/json")
answer = json.load(urlopen(request))
for hit in answer["hits"]:
    print(hit["id"])`;
}

// A string as Rust writes it.
function rust(text) {
  let fence = "";
  while (text.includes(`"${fence}`)) fence += "#";
  return fence || text.includes("\\") ? `r${fence}"${text}"${fence}` : `"${text}"`;
}

export function rustOf(state) {
  const body = bodyOf(state);
  const query = body.query ? `snapshot.parse(${rust(body.query)}, Operator::Or)?` : "Query::MatchAll";
  const filters = (body.filter ?? []).map((text) => `    snapshot.parse(${rust(text)}, Operator::And)?,\n`).join("");
  const keys = body.sort ? [...body.sort, "_doc"].map((key) => `SortKey::parse(${rust(key)})?`).join(", ") : "";
  const lines = [
    `let index = Index::options().open(${rust(state.index)})?;`,
    "let snapshot = index.snapshot();",
    `let query = ${query}${filters ? `.filtered(vec![\n${filters}])` : ""};`,
    "let options = SearchOptions {",
    `    k: ${body.size},`,
  ];
  if (body.offset) lines.push(`    skip: ${body.offset},`);
  if (keys) lines.push(`    sort: vec![${keys}],`);
  lines.push("    ..SearchOptions::default()", "};", "for found in snapshot.search_all(&[query], &options) {");
  lines.push("    for hit in found?.hits {", '        println!("{}", hit.id);', "    }", "}");
  const uses = ["Index", "Operator", ...(body.query ? [] : ["Query"]), "SearchOptions", ...(keys ? ["SortKey"] : [])];
  const used = uses.filter((name) => name !== "Operator" || body.query || filters);
  return `use gannet::{${used.join(", ")}};\n\n${lines.join("\n")}`;
}

const RANGE = /^((?:[\p{L}\p{N}_.]|\\.)+):\[(\S+) TO (\S+)([\]}])$/u;

// A filter as Elasticsearch has it: ranges are queries of their own.
function elasticFilter(text) {
  const range = RANGE.exec(text);
  if (!range) return { query_string: { query: text, default_operator: "AND" } };
  const [, field, from, to, end] = range;
  const ends = { gte: from };
  if (to !== "*") ends[end === "]" ? "lte" : "lt"] = to;
  return { range: { [field.replace(/\\(.)/gu, "$1")]: ends } };
}

export function elasticOf(state) {
  const body = bodyOf(state);
  const bool = {};
  if (body.query) bool.must = [{ query_string: { query: body.query } }];
  if (body.filter) bool.filter = body.filter.map(elasticFilter);
  const query = body.query || body.filter ? { bool } : { match_all: {} };
  // All documents score alike where nothing is asked of them.
  if (!body.query && body.filter) bool.must = [{ match_all: {} }];
  const sort = (key) => (key.startsWith("-") ? { [key.slice(1)]: "desc" } : { [key]: key === "_score" ? "desc" : "asc" });
  const asked = { query, size: body.size };
  if (body.offset) asked.from = body.offset;
  if (body.sort) asked.sort = [...body.sort.map(sort), "_doc"];
  return `POST /${state.index}/_search\n${JSON.stringify(asked, null, 2)}`;
}

function block(name, text, id) {
  const copy = element("button", { type: "button", class: "copied" }, "Copy");
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text);
    copy.textContent = "Copied";
  });
  return [element("h2", {}, name, copy), element("pre", { id, tabindex: "0" }, text)];
}

export function shownRequest(state) {
  return [
    ...block("curl", curlOf(state, location.origin), "curl"),
    ...block("Python", pythonOf(state, location.origin), "python"),
    ...block("Rust, in a program of its own", rustOf(state), "rust"),
    ...block("Elasticsearch", elasticOf(state), "elasticsearch"),
  ];
}
