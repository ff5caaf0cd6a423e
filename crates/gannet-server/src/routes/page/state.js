// The state of the page is its URL, so that it can be sent to others and the way back works.

const EMPTY = {
  view: "search",
  index: "",
  q: "",
  filters: [],
  sort: "",
  offset: 0,
  pane: "cost",
  open: [],
  date: "",
  hit: "",
};

export const state = { ...EMPTY };

export function read() {
  const asked = new URLSearchParams(location.search);
  for (const [name, empty] of Object.entries(EMPTY)) {
    if (Array.isArray(empty)) state[name] = asked.getAll(name);
    else if (typeof empty === "number") state[name] = Number.parseInt(asked.get(name) ?? "", 10) || 0;
    else state[name] = asked.get(name) ?? empty;
  }
}

// Changes the state; what is typed replaces the last entry of the history, all else makes one.
export function change(changes, replaces = false) {
  Object.assign(state, changes);
  const url = new URLSearchParams();
  for (const [name, empty] of Object.entries(EMPTY)) {
    const value = state[name];
    if (Array.isArray(value)) value.forEach((one) => url.append(name, one));
    else if (value !== empty) url.set(name, value);
  }
  const text = url.toString();
  const path = text ? `?${text}` : location.pathname;
  if (replaces) history.replaceState(null, "", path);
  else history.pushState(null, "", path);
}
