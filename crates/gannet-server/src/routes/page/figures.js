// The figures of an index: where its bytes are, its memory, what it wrote in its life.

import { ask, pathOf } from "./api.js";
import { bytes, element, grouped, table } from "./element.js";

function meter(part, whole, label) {
  const bar = element("i");
  bar.style.width = `${Math.min(100, (100 * part) / Math.max(1, whole))}%`;
  return element("div", { class: "meter", role: "img", "aria-label": label }, bar);
}

const PARTS = ["documents", "postings", "dictionary", "tables", "roots", "free"];

export async function showFigures(place, index) {
  const stats = await ask(pathOf(index, "/stats"));
  const { bytes: parts, memory, lifetime, io } = stats;
  const share = (part) => `${((100 * part) / Math.max(1, parts.allocated)).toFixed(1)} %`;
  const rows = PARTS.map((name) => [name, bytes(parts[name]), share(parts[name])]);
  const used = `${bytes(memory.used)} of ${bytes(memory.budget)}`;
  const comes = [
    ["free within zones", bytes(parts.free)],
    ["deleted documents that a vacuum takes out", grouped(stats.deleted_documents)],
  ];
  const wrote = Object.entries(lifetime.written_bytes_for).map(([name, count]) => [name.replaceAll("_", " "), bytes(count)]);
  const amplification = lifetime.host_write_amplification;
  const times = amplification === null ? "" : `, ${amplification.toFixed(2)} times the ${bytes(lifetime.source_bytes)} of sources`;
  const reads = [
    ["reads", grouped(io.reads), bytes(io.read_bytes)],
    ["writes", grouped(io.writes), bytes(io.written_bytes)],
    ["syncs", grouped(io.syncs), ""],
  ];
  place.replaceChildren(
    element("h2", {}, `Index ${index}`),
    element("p", {}, `${grouped(stats.documents)} documents, ${grouped(stats.terms)} terms, ${bytes(parts.allocated)} on flash`),
    element("h2", {}, "Bytes on flash"),
    table(["part", "bytes", "share"], rows),
    element("h2", {}, "Memory"),
    meter(memory.used, memory.budget, used),
    element("p", { class: "quiet" }, `${used}; at most ${bytes(memory.peak)} so far`),
    element("h2", {}, "What can come back"),
    table([], comes),
    element("h2", {}, "Written in its life"),
    element("p", {}, `${bytes(lifetime.written_bytes)}${times}, as of the last checkpoint`),
    table(["for", "bytes"], wrote),
    element("h2", {}, "Since it was opened"),
    table(["", "operations", "bytes"], reads),
  );
}
