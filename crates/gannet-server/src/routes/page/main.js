// The page: reads its URL, asks, shows, and writes its URL again.

import { showAnalysis } from "./analysis.js";
import { ask, pathOf } from "./api.js";
import { shownCost } from "./cost.js";
import { at, element, grouped, time } from "./element.js";
import { columnsOf, showValues, shownFields } from "./fields.js";
import { showFigures } from "./figures.js";
import { filterOf, shownFilters } from "./filters.js";
import { bars, shownBars } from "./histogram.js";
import { shownHit } from "./hits.js";
import { shownRequest } from "./request.js";
import { PAGE, wholeBodyOf } from "./search.js";
import { change, read, state } from "./state.js";
import { shownWhy } from "./why.js";

// The pause in typing after which is searched.
const PAUSE = 150;

// The last hit that a search ranks.
const RANKED_MAX = 10_000;

// The fields of the index that is shown, and what of them can be counted.
let known = { index: null, fields: [], columns: [] };
let answer = null;
let asking = new AbortController();
let typing = 0;

// Shows an error where it is: under the query, with the character marked that is wrong.
function tell(error) {
  const place = at("wrong");
  place.hidden = error === null;
  at("query").toggleAttribute("aria-invalid", error !== null);
  if (error === null) return place.replaceChildren();
  const shown = [element("span", {}, error.message)];
  const character = error.place?.character;
  if (error.place?.part === "query" && character) {
    const letters = Array.from(state.q.trim());
    const before = letters.slice(0, character - 1).join("");
    const wrong = letters[character - 1] ?? " ";
    shown.push(element("code", {}, before, element("mark", {}, wrong), letters.slice(character).join("")));
  }
  place.replaceChildren(...shown);
}

async function knowIndex() {
  if (known.index === state.index) return;
  const { fields } = await ask(pathOf(state.index, "/fields"));
  known = { index: state.index, fields, columns: columnsOf(fields) };
}

function showFields() {
  const toggle = (name, isOpen) => {
    const open = state.open.filter((other) => other !== name);
    go({ open: isOpen ? [...open, name] : open }, true);
  };
  const list = shownFields(known.fields, known.columns, state.open, toggle);
  at("fields").replaceChildren(...list);
}

function showOrders() {
  const orders = [["", "by score"]];
  for (const column of known.columns) orders.push([column.name, `${column.name} ↑`], [`-${column.name}`, `${column.name} ↓`]);
  const options = orders.map(([value, name]) => element("option", { value, selected: value === state.sort }, name));
  at("sort").replaceChildren(...options);
}

function showPages() {
  const total = Math.min(answer.total ?? 0, RANKED_MAX);
  const button = (name, offset) => element("button", { type: "button", onclick: () => go({ offset, hit: "" }) }, name);
  const pages = [];
  if (state.offset > 0) pages.push(button("← Previous", Math.max(0, state.offset - PAGE)));
  if (total > PAGE) pages.push(element("small", {}, `page ${Math.floor(state.offset / PAGE) + 1} of ${grouped(Math.ceil(total / PAGE))}`));
  if (state.offset + PAGE < total) pages.push(button("Next →", state.offset + PAGE));
  at("pages").replaceChildren(...pages);
}

function showPane() {
  for (const button of at("panes").children) mark(button, button.dataset.pane === state.pane);
  if (!answer) return;
  const shown = {
    cost: () => shownCost(answer),
    request: () => shownRequest(state),
    why: () => shownWhy(answer, state.hit),
  };
  at("pane").replaceChildren(...(shown[state.pane] ?? shown.cost)());
}

function mark(button, isCurrent) {
  if (isCurrent) button.setAttribute("aria-current", "true");
  else button.removeAttribute("aria-current");
}

function showAnswer() {
  const total = grouped(answer.total);
  const bound = answer.total_is_exact ? "" : "about ";
  at("summary").textContent = `${bound}${total} document${answer.total === 1 ? "" : "s"} in ${time(answer.cost.took_us)}`;
  at("notes").replaceChildren(...answer.notes.map((note) => element("li", {}, note)));
  const why = async (id) => {
    await go({ pane: "why", hit: id });
    // On a narrow screen the tree is below all hits.
    if (innerWidth < 1200) at("side").scrollIntoView({ block: "nearest" });
  };
  const shown = answer.hits.map((hit, place) =>
    shownHit(hit, state.offset + place + 1, state.pane === "why" && hit.id === state.hit, why),
  );
  at("hits").replaceChildren(...shown);
  const choose = (column, value) => addFilter(filterOf(column, value));
  showValues(at("fields"), answer, known.columns, choose);
  showPages();
  showPane();
}

function addFilter(text) {
  if (!state.filters.includes(text)) go({ filters: [...state.filters, text], offset: 0, hit: "" });
}

async function showHistogram(signal) {
  const dates = known.columns.filter((column) => column.type === "date");
  const column = dates.find((other) => other.name === state.date) ?? dates[0];
  const found = column && answer.total > 0 ? await bars(state, column, signal) : null;
  if (signal.aborted) return;
  const choose = (name) => go({ date: name }, true);
  at("histogram").replaceChildren(...(found ? shownBars(found, column, known.columns, choose, addFilter) : []));
}

async function search(signal) {
  showOrders();
  const remove = (place) => go({ filters: state.filters.filter((_, other) => other !== place), offset: 0, hit: "" });
  at("filters").replaceChildren(...shownFilters(state.filters, remove));
  showFields();
  const found = await ask(pathOf(state.index, "/search"), wholeBodyOf(state, known.columns), signal);
  if (signal.aborted) return;
  answer = found;
  tell(null);
  showAnswer();
  await showHistogram(signal);
}

const VIEWS = { search: "search", analysis: "analysis", index: "figures" };

// Shows what the state says. What is still asked for an older one is given up.
async function show() {
  asking.abort();
  asking = new AbortController();
  const { signal } = asking;
  for (const [view, id] of Object.entries(VIEWS)) at(id).hidden = view !== state.view;
  for (const button of at("views").children) mark(button, button.dataset.view === state.view);
  at("index").value = state.index;
  if (document.activeElement !== at("query")) at("query").value = state.q;
  document.title = state.q ? `${state.q} – Gannet` : "Gannet";
  try {
    if (!state.index) return;
    await knowIndex();
    if (state.view === "analysis") showAnalysis(at("analysis"), state.index, known.fields, tell);
    else if (state.view === "index") await showFigures(at("figures"), state.index);
    else await search(signal);
  } catch (error) {
    if (error.name !== "AbortError") tell(error);
  }
}

function go(changes, replaces = false) {
  change(changes, replaces);
  return show();
}

function listen() {
  at("form").addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(typing);
    go({ q: at("query").value, offset: 0, hit: "", view: "search" });
  });
  at("query").addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => go({ q: at("query").value, offset: 0, hit: "", view: "search" }, true), PAUSE);
  });
  at("index").addEventListener("change", (event) => {
    go({ index: event.target.value, filters: [], sort: "", offset: 0, open: [], date: "", hit: "" });
  });
  at("sort").addEventListener("change", (event) => go({ sort: event.target.value, offset: 0, hit: "" }));
  at("views").addEventListener("click", ({ target }) => target.dataset.view && go({ view: target.dataset.view }));
  at("panes").addEventListener("click", ({ target }) => target.dataset.pane && go({ pane: target.dataset.pane }));
  addEventListener("popstate", () => {
    read();
    at("query").value = state.q;
    show();
  });
  // A slash goes to the query, as on many pages.
  addEventListener("keydown", (event) => {
    const isWriting = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
    if (event.key === "/" && !isWriting) {
      event.preventDefault();
      at("query").focus();
    }
  });
}

async function begin() {
  read();
  at("query").value = state.q;
  listen();
  const { indexes } = await ask("/v1/indexes");
  at("index").replaceChildren(...indexes.map(({ name }) => element("option", {}, name)));
  if (!state.index && indexes.length > 0) state.index = indexes[0].name;
  if (!state.index) {
    at("search").hidden = false;
    at("summary").textContent = "There are no indexes yet.";
    return;
  }
  await show();
}

begin().catch(tell);
