// The documents that match over time. Bars are buttons: one filters by its time.

import { ask, pathOf } from "./api.js";
import { element, grouped } from "./element.js";
import { rangeOf } from "./filters.js";
import { bodyOf } from "./search.js";

const DAY = 86_400_000;

// Intervals of calendars, with about as many milliseconds; the first with few enough bars is taken.
const INTERVALS = [
  ["minute", 60_000],
  ["hour", DAY / 24],
  ["day", DAY],
  ["week", 7 * DAY],
  ["month", 30 * DAY],
  ["quarter", 91 * DAY],
  ["year", 365 * DAY],
];

const BARS_MAX = 60;

// The bars of a column of dates; nothing where no document has any.
export async function bars(state, column, signal) {
  const path = pathOf(state.index, "/search");
  const { sort, offset, ...matching } = bodyOf(state);
  const counts = (aggregations) => ask(path, { ...matching, size: 0, total: false, aggregations }, signal);
  const ends = await counts({ least: { min: { field: column.name } }, most: { max: { field: column.name } } });
  const { least, most } = ends.aggregations;
  if (typeof least.value !== "number" || typeof most.value !== "number") return null;
  const span = most.value - least.value;
  const fitting = INTERVALS.find(([, milliseconds]) => span / milliseconds <= BARS_MAX) ?? INTERVALS.at(-1);
  const by = { date_histogram: { field: column.name, calendar_interval: fitting[0], min_doc_count: 0 } };
  const answer = await counts({ by });
  return { unit: fitting[0], buckets: answer.aggregations.by.buckets };
}

const day = (bucket) => (bucket.key_as_string ?? new Date(bucket.key).toISOString()).replace(/T00:00:00\.000Z$/, "");

export function shownBars(found, column, columns, choose, filter) {
  const most = Math.max(1, ...found.buckets.map((bucket) => bucket.doc_count));
  const each = found.buckets.map((bucket, place) => {
    const next = found.buckets[place + 1];
    const bar = element("i");
    bar.style.height = `${Math.max(bucket.doc_count > 0 ? 3 : 0, (100 * bucket.doc_count) / most)}%`;
    const told = `${day(bucket)}: ${grouped(bucket.doc_count)} documents`;
    const button = element("button", { type: "button", title: told, "aria-label": told }, bar);
    button.addEventListener("click", () => {
      filter(next ? rangeOf(column, day(bucket), day(next), false) : rangeOf(column, day(bucket), "*", true));
    });
    return button;
  });
  const dates = columns.filter((other) => other.type === "date");
  const names = dates.map((other) => element("option", { value: other.name, selected: other.name === column.name }, other.field));
  const chosen = element("select", { "aria-label": "Dates of", onchange: (event) => choose(event.target.value) }, ...names);
  const ends = [found.buckets[0], found.buckets.at(-1)].map((bucket) => element("small", {}, bucket ? day(bucket) : ""));
  const heading = element("div", { class: "bar" }, element("small", {}, `Documents by ${found.unit}`), dates.length > 1 ? chosen : "");
  return [heading, element("div", { class: "bars" }, ...each), element("div", { class: "ends" }, ...ends)];
}
