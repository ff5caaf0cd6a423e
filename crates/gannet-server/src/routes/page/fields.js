// The fields: their types, and on opening one its distinct and its most frequent values among the
// documents that match. A click on a value filters by it.

import { element, grouped } from "./element.js";

// The columns of all fields: what can be counted and sorted by.
export function columnsOf(fields) {
  return fields.flatMap((field) =>
    field.values.map((value) => ({ name: value.name, type: value.type, field: field.name, analyzer: field.analyzer })),
  );
}

// The column by which a field is counted: dates rather than the strings that they are written as.
function countedBy(field, columns) {
  const own = columns.filter((column) => column.field === field.name);
  return own.find((column) => column.type !== "keyword") ?? own[0];
}

export function shownFields(fields, columns, open, toggle) {
  const list = fields.map((field) => {
    const column = countedBy(field, columns);
    const type = column && (field.analyzer === null || column.type !== "keyword") ? column.type : field.analyzer === "keyword" ? "keyword" : "text";
    const title = `${grouped(field.documents)} documents${field.analyzer ? `, analyzer ${field.analyzer}` : ""}`;
    const name = [element("b", {}, field.name), element("small", {}, type)];
    if (!column) return element("div", { class: "plain", title }, ...name);
    const details = element("details", { "data-column": column.name, open: open.includes(column.name) });
    details.append(element("summary", { title }, ...name), element("div"));
    details.addEventListener("toggle", () => {
      if (details.open !== open.includes(column.name)) toggle(column.name, details.open);
    });
    return details;
  });
  return [element("h2", {}, "Fields"), ...list];
}

// Puts the values of the open fields where they belong.
export function showValues(list, answer, columns, choose) {
  for (const details of list.querySelectorAll("details")) {
    const name = details.dataset.column;
    const place = details.lastElementChild;
    const facet = answer.facets?.[name];
    if (!facet) {
      place.replaceChildren();
      continue;
    }
    const column = columns.find((other) => other.name === name);
    const distinct = answer.aggregations?.[`distinct ${name}`]?.value ?? facet.values.length;
    const most = Math.max(1, ...facet.values.map((value) => value.count));
    const values = facet.values.map(({ value, count }) => {
      const bar = element("i");
      bar.style.width = `${(100 * count) / most}%`;
      const shown = value === "" ? "(empty)" : String(value);
      const counted = element("span", { class: "quiet" }, grouped(count));
      const button = element("button", { type: "button", class: "value", title: shown }, bar, element("span", {}, shown), counted);
      button.addEventListener("click", () => choose(column, value));
      return button;
    });
    const rest = facet.others > 0 ? `, ${grouped(facet.others)} with others` : "";
    place.replaceChildren(element("small", {}, `${grouped(distinct)} distinct${rest}`), ...values);
  }
}
