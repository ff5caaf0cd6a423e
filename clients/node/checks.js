// What the programs of this folder share: documents, steps, and what fails in them.
"use strict";

const fs = require("node:fs");

const [url, file] = process.argv.slice(2);
const documents = fs.readFileSync(file, "utf8").trim().split("\n").map((line) => JSON.parse(line));
const word = documents[7].title.split(" ").reduce((a, b) => (b.length > a.length ? b : a));

function same(found, expected, what) {
  if (JSON.stringify(found) !== JSON.stringify(expected)) {
    throw new Error(`${what}: found ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`);
  }
}

// Fails unless a request is answered with an error of this status and type.
async function fails(asked, status, type) {
  let found;
  try {
    found = await asked;
  } catch (error) {
    const told = (error.meta?.body ?? error.body)?.error;
    same([error.statusCode ?? error.meta?.statusCode, told?.type], [status, type], "the error");
    return;
  }
  throw new Error(`no error but ${JSON.stringify(found)}`);
}

async function run(steps) {
  let failed = false;
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      failed = true;
      const at = /:(\d+):\d+/.exec((error.stack ?? "").split("\n").find((line) => line.includes("clients/node/") && !line.includes("checks.js")) ?? "");
      console.log(`${step.name}, line ${at?.[1]}: ${String(error.message).slice(0, 500)}`);
    }
  }
  process.exit(failed ? 1 : 0);
}

module.exports = { url, documents, word, same, fails, run };
