// What an analyzer makes of a text, token by token.

import { ask, pathOf } from "./api.js";
import { element, table } from "./element.js";

// The text with its tokens marked. Offsets count bytes of UTF-8.
function markedText(text, tokens) {
  const written = new TextEncoder().encode(text);
  const part = (from, to) => new TextDecoder().decode(written.slice(from, to));
  const line = element("p", { class: "tokens" });
  let seen = 0;
  for (const token of tokens) {
    if (token.start < seen) continue;
    line.append(part(seen, token.start), element("span", { title: token.token }, part(token.start, token.end)));
    seen = token.end;
  }
  line.append(part(seen));
  return line;
}

export function showAnalysis(place, index, fields, tell) {
  const names = fields.filter((field) => field.analyzer !== null).map((field) => field.name);
  const field = element("select", { id: "analysed", "aria-label": "Field" });
  field.append(element("option", { value: "" }, "default analyzer"), ...names.map((name) => element("option", {}, name)));
  const text = element("textarea", { id: "text", "aria-label": "Text", placeholder: "A text to analyze" });
  const found = element("div", { id: "tokens" });
  const analyze = async () => {
    if (!text.value) return found.replaceChildren();
    const body = { text: text.value };
    if (field.value) body.field = field.value;
    try {
      const { analyzer, tokens } = await ask(pathOf(index, "/analyze"), body);
      const rows = tokens.map((token) => [token.token, String(token.position), `${token.start}–${token.end}`]);
      found.replaceChildren(
        element("h2", {}, `${tokens.length} tokens of the analyzer ${analyzer}`),
        markedText(text.value, tokens),
        table(["token", "position", "bytes"], rows),
      );
      tell(null);
    } catch (error) {
      tell(error);
    }
  };
  text.addEventListener("input", analyze);
  field.addEventListener("change", analyze);
  const row = element("div", { class: "row" }, element("span", {}, "Analyzer of"), field);
  place.replaceChildren(element("h2", {}, "Analysis"), row, text, found);
}
