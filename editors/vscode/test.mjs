// Tries the TextMate grammar on every model of gallery and library: node editors/vscode/test.mjs
//
// Patterns are tried in order at each place, as an editor does; what must come out is known from the text itself.

import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.join(here, "../..");
const grammar = JSON.parse(fs.readFileSync(path.join(here, "syntaxes/bond.tmLanguage.json"), "utf8"));

/** All patterns in order, includes opened. */
function flatten(patterns) {
  return patterns.flatMap((p) => {
    if (p.include) {
      const found = grammar.repository[p.include.slice(1)];
      return flatten(found.patterns ?? [found]);
    }
    return [{ ...p, regex: new RegExp(p.match, "duy") }];
  });
}

const patterns = flatten(grammar.patterns);

/** Scopes of the letters of a line. */
function scopes(line) {
  const found = new Array(line.length).fill("");
  const mark = (start, end, name) => name && found.fill(name, start, end);
  let at = 0;
  while (at < line.length) {
    const hit = patterns.find((p) => ((p.regex.lastIndex = at), (p.result = p.regex.exec(line)), p.result?.[0].length > 0));
    if (!hit) {
      at += 1;
      continue;
    }
    const { result } = hit;
    mark(at, at + result[0].length, hit.name);
    for (const [group, capture] of Object.entries(hit.captures ?? {})) {
      const range = result.indices[Number(group)];
      if (range) mark(range[0], range[1], capture.name);
    }
    at += result[0].length;
  }
  return found;
}

function* models(folder) {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const full = path.join(folder, entry.name);
    if (entry.isDirectory()) yield* models(full);
    else if (entry.name.endsWith(".bond")) yield full;
  }
}

let wrong = 0;
let checked = 0;
function expect(file, line, at, text, wanted, found) {
  checked += 1;
  if (!found.startsWith(wanted)) {
    wrong += 1;
    if (wrong < 20) console.error(`${path.relative(root, file)}: ${JSON.stringify(text)} is ${found || "nothing"}, not ${wanted}: ${line.trim()}`);
  }
}

for (const folder of ["gallery", "library"]) {
  for (const file of models(path.join(root, folder))) {
    for (const line of fs.readFileSync(file, "utf8").split("\n")) {
      const scope = scopes(line);
      const comment = line.replace(/"[^"]*"/g, (s) => " ".repeat(s.length)).indexOf("//");
      const code = comment < 0 ? line : line.slice(0, comment);
      if (comment >= 0) expect(file, line, comment, line.slice(comment), "comment", scope[comment]);
      const plain = code.replace(/"[^"]*"/g, (s) => " ".repeat(s.length));
      for (const m of plain.matchAll(/->|=>/g)) expect(file, line, m.index, m[0], "keyword.operator.arrow", scope[m.index]);
      for (const m of plain.matchAll(/^\s*(model|experiment|fn|use|param|input|output|start|record|plot|measure|compare)\b(?=\s+["\w])/g)) {
        const at = m.index + m[0].length - m[1].length;
        expect(file, line, at, m[1], "keyword", scope[at]);
      }
      for (const m of plain.matchAll(/\d (\[)([a-zA-Z%][\w*/^%]*)\]/g)) {
        const at = m.index + 3;
        expect(file, line, at, m[2], "constant.other.unit", scope[at]);
      }
      for (const m of plain.matchAll(/(\w+): ([01])(?=\s|$|\[|,)/g)) {
        const at = m.index + m[0].length - 1;
        expect(file, line, at, m[2], "support.type", scope[at]);
      }
      for (const m of code.matchAll(/"[^"]*"/g)) expect(file, line, m.index, m[0], "string", scope[m.index]);
    }
  }
}
console.log(`${checked} places, ${wrong} wrong`);
process.exit(wrong === 0 && checked > 1000 ? 0 : 1);
