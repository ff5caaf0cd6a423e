// The state of the page is in its URL: index, words, hits. Texts of documents become text nodes.
"use strict";

const PAGE = 10;
const MARKS = ["\u0001", "\u0002"];
const at = (id) => document.getElementById(id);

async function ask(path, body) {
  const options = body && {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  };
  const response = await fetch(path, options);
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error?.reason ?? answer.error);
  return answer;
}

function element(name, text) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  return made;
}

// A snippet with its marks as elements.
function marked(snippet) {
  const line = element("p");
  for (const part of snippet.split(MARKS[0])) {
    const [mark, rest] = part.includes(MARKS[1]) ? part.split(MARKS[1]) : [null, part];
    if (mark !== null) line.append(element("em", mark));
    line.append(rest);
  }
  return line;
}

function shown(hit) {
  const item = element("li");
  const title = hit._source?.title;
  item.append(element("h2", typeof title === "string" ? title : hit._id));
  for (const snippets of Object.values(hit.highlight ?? {})) {
    for (const snippet of snippets) item.append(marked(snippet));
  }
  item.append(element("small", `${hit._id}, score ${hit._score.toFixed(3)}`));
  const details = element("details");
  details.append(element("summary", "Document"));
  details.append(element("pre", JSON.stringify(hit._source, null, 2)));
  item.append(details);
  return item;
}

async function search(from) {
  const index = at("index").value;
  const text = at("text").value.trim();
  history.replaceState(null, "", `?${new URLSearchParams({ index, q: text })}`);
  if (from === 0) at("hits").replaceChildren();
  at("summary").className = "";
  const query = text ? { multi_match: { query: text } } : { match_all: {} };
  const highlight = {
    pre_tags: [MARKS[0]],
    post_tags: [MARKS[1]],
    number_of_fragments: 2,
    fields: { "*": {} },
  };
  try {
    const path = `/${encodeURIComponent(index)}/_search`;
    const found = await ask(path, { query, from, size: PAGE, highlight });
    const total = found.hits.total.value;
    at("summary").textContent = `${total} documents in ${found.took} ms`;
    at("hits").append(...found.hits.hits.map(shown));
    const count = at("hits").children.length;
    at("more").hidden = count >= total || count >= 10000;
  } catch (error) {
    at("summary").className = "error";
    at("summary").textContent = error.message;
    at("more").hidden = true;
  }
}

async function begin() {
  const asked = new URLSearchParams(location.search);
  const indexes = await ask("/_cat/indices?format=json");
  for (const { index } of indexes) at("index").append(element("option", index));
  if (asked.get("index")) at("index").value = asked.get("index");
  at("text").value = asked.get("q") ?? "";
  at("form").addEventListener("submit", (event) => {
    event.preventDefault();
    search(0);
  });
  at("more").addEventListener("click", () => search(at("hits").children.length));
  if (indexes.length === 0) {
    at("summary").textContent = "There are no indexes yet.";
  } else {
    search(0);
  }
}

begin().catch((error) => {
  at("summary").className = "error";
  at("summary").textContent = error.message;
});
