// Elements, whose texts are texts: nothing of a document is ever read as HTML.

// Makes an element with properties, and what stands in it.
export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "class") made.className = value;
    else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export const at = (id) => document.getElementById(id);

export const grouped = (number) => number.toLocaleString("en");

export function bytes(number) {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (number >= 1024 && unit < units.length - 1) {
    number /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? number : number.toPrecision(3)} ${units[unit]}`;
}

export function time(microseconds) {
  if (microseconds < 1000) return `${microseconds} µs`;
  return `${(microseconds / 1000).toPrecision(3)} ms`;
}

// A table of rows, whose cells but the first are numbers. Headings may be none.
export function table(headings, rows) {
  const head = headings.map((text, place) => element("th", { class: place > 0 && "number" }, text));
  const body = rows.map((cells) =>
    element("tr", {}, ...cells.map((cell, place) => element("td", { class: place > 0 && "number" }, cell))),
  );
  const top = head.length > 0 ? element("thead", {}, element("tr", {}, ...head)) : null;
  const whole = element("table", {}, top, element("tbody", {}, ...body));
  return element("div", { class: "wide" }, whole);
}
