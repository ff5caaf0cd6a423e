// The hits: a title, snippets with what was found marked, and the whole document.

import { element } from "./element.js";
import { MARKS } from "./search.js";

// A snippet with its marks as elements.
export function marked(snippet) {
  const line = element("p");
  for (const part of snippet.split(MARKS[0])) {
    const end = part.indexOf(MARKS[1]);
    if (end >= 0) line.append(element("em", {}, part.slice(0, end)));
    line.append(part.slice(end + 1));
  }
  return line;
}

const text = (value) => (typeof value === "string" ? value : undefined);

function titleOf(hit) {
  const source = hit.document ?? {};
  const title = text(source.title) ?? text(source.name) ?? text(source.subject);
  return title?.trim() || hit.id;
}

// A few lines of a document in which nothing was marked.
function beginning(hit, title) {
  const texts = Object.values(hit.document ?? {}).filter((value) => text(value) && value !== title && value !== hit.id);
  const longest = texts.sort((one, other) => other.length - one.length)[0];
  return longest === undefined ? null : element("p", {}, longest.length > 240 ? `${longest.slice(0, 240)}…` : longest);
}

export function shownHit(hit, place, isCurrent, why) {
  const title = titleOf(hit);
  const item = element("li", { class: "hit", "aria-current": isCurrent && "true", "data-id": hit.id });
  item.append(element("h3", {}, title));
  const snippets = Object.values(hit.highlight ?? {}).flat();
  if (snippets.length > 0) item.append(...snippets.map(marked));
  else item.append(beginning(hit, title) ?? "");
  const about = element("div", { class: "about" }, `${place}.`);
  if (title !== hit.id) about.append(element("span", {}, hit.id));
  if (hit.score !== undefined) about.append(element("span", {}, `score ${hit.score.toFixed(3)}`));
  // The last value is the place of the document, which says nothing to people.
  const values = (hit.sort ?? []).slice(0, -1).map((value) => value ?? "none");
  if (values.length > 0) about.append(element("span", {}, values.join(", ")));
  about.append(element("button", { type: "button", onclick: () => why(hit.id) }, "Why"));
  const whole = element("pre", { hidden: true }, JSON.stringify(hit.document, null, 2));
  const toggle = element("button", { type: "button", "aria-expanded": "false" }, "Document");
  toggle.addEventListener("click", () => {
    whole.hidden = !whole.hidden;
    toggle.setAttribute("aria-expanded", String(!whole.hidden));
  });
  about.append(toggle);
  item.append(about, whole);
  return item;
}
