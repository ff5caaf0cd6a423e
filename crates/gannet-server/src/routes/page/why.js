// Why a hit has its score: the tree of what it comes from.

import { element } from "./element.js";

function branch(part) {
  const item = element("li", {}, element("b", {}, String(part.value)), part.description);
  if (part.details.length > 0) item.append(element("ul", {}, ...part.details.map(branch)));
  return item;
}

export function shownWhy(answer, id) {
  const hit = answer.hits.find((other) => other.id === id) ?? answer.hits[0];
  if (!hit) return [element("p", { class: "quiet" }, "There is no hit on this page.")];
  const heading = element("h2", {}, `Score of ${hit.id}`);
  if (!hit.explanation) {
    return [heading, element("p", { class: "quiet" }, "In an order by values no score is computed.")];
  }
  return [heading, element("ul", { class: "tree" }, branch(hit.explanation))];
}
