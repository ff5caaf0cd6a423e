// What a search cost: the plan with its rounds, and where its pages were.

import { bytes, element, grouped, table, time } from "./element.js";

export function shownCost(answer) {
  const { cost, plan } = answer;
  const rows = [
    ["Time in the server", time(cost.took_us)],
    ["Rounds of reads", grouped(cost.rounds)],
    ["Pages found in memory", grouped(cost.pages.memory)],
    ["Pages of the flash tier", grouped(cost.pages.tier)],
    ["Reads of the device", grouped(cost.reads)],
    ["Bytes read", bytes(cost.bytes)],
    ["Device", cost.backend],
  ];
  const shown = [element("h2", {}, "This search"), table([], rows)];
  if (!plan) return shown;
  const steps = plan.steps.map((step) => [step.step, grouped(step.rounds), grouped(step.reads), grouped(step.pages.memory)]);
  shown.push(element("h2", {}, "Plan"), table(["step", "rounds", "reads", "in memory"], steps));
  if (plan.terms.length > 0) {
    const terms = plan.terms.map((term) => [`${term.field}:${term.term}`, grouped(term.document_frequency), grouped(term.pages_in_list)]);
    shown.push(element("h2", {}, "Terms"), table(["term", "documents", "pages"], terms));
  }
  if (plan.patterns.length > 0) {
    const patterns = plan.patterns.map((pattern) => [`${pattern.field}:${pattern.pattern}`, grouped(pattern.terms), grouped(pattern.documents)]);
    shown.push(element("h2", {}, "Patterns"), table(["pattern", "terms", "documents"], patterns));
  }
  const windows = `${grouped(plan.windows_searched)} windows of documents searched, ${grouped(plan.windows_skipped)} skipped by their bounds`;
  shown.push(element("p", { class: "quiet" }, windows));
  return shown;
}
