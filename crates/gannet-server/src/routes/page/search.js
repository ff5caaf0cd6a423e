// What a state asks for, as the body of a search.

export const PAGE = 10;

// What stands around a match, which no document is likely to have.
export const MARKS = ["\u0001", "\u0002"];

// The part of it that says which hits come, in which order: what a request is copied with.
export function bodyOf(state) {
  const body = {};
  if (state.q.trim()) body.query = state.q.trim();
  if (state.filters.length > 0) body.filter = state.filters;
  if (state.sort) body.sort = [state.sort];
  if (state.offset > 0) body.offset = state.offset;
  body.size = PAGE;
  return body;
}

// The whole, with what the page shows beside.
export function wholeBodyOf(state, columns) {
  const body = bodyOf(state);
  body.highlight = { before: MARKS[0], after: MARKS[1], fragments: 2 };
  if (state.pane !== "request") body.explain = true;
  const open = state.open.filter((name) => columns.some((column) => column.name === name));
  if (open.length > 0) {
    body.facets = Object.fromEntries(open.map((name) => [name, 10]));
    const distinct = open.map((name) => [`distinct ${name}`, { cardinality: { field: name } }]);
    body.aggregations = Object.fromEntries(distinct);
  }
  return body;
}
