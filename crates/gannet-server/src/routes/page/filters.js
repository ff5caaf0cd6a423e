// Filters: texts of the query language, each with a button that takes it away.

import { element } from "./element.js";

const escaped = (name) => name.replace(/[^\p{L}\p{N}_.]/gu, "\\$&");

const quoted = (value) => `"${String(value).replace(/[\\"]/g, "\\$&")}"`;

// The filter for a value of a column.
export function filterOf(column, value) {
  const field = escaped(column.field);
  if (column.type === "date") return rangeOf(column, value, value, true);
  if (column.type === "keyword") return `${field}:${quoted(value)}`;
  return `${field}:${String(value).startsWith("-") ? quoted(value) : value}`;
}

// The filter for values between two others.
export function rangeOf(column, from, to, includesEnd) {
  return `${escaped(column.field)}:[${from} TO ${to}${includesEnd ? "]" : "}"}`;
}

export function shownFilters(filters, remove) {
  return filters.map((text, place) =>
    element("button", { type: "button", title: "Remove this filter", onclick: () => remove(place) }, `${text} ✕`),
  );
}
