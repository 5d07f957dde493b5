// Colours for bond text: words by what they are, not by where they stand.

import { HighlightStyle, LanguageSupport, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { tags } from "@lezer/highlight";

const ITEMS = new Set("model experiment use domain extends units strict of".split(" "));
const WORDS = new Set(
  ("param input output port replaceable when reinit start guess for in if then else and or not true false layout with record plot " +
    "measure compare within sweep trim linearize let as at final stop method rtol atol unpowered signal").split(" "),
);
const KINDS = new Set("R C I Se Sf MSe MSf TF MTF GY MGY RS D Sw".split(" "));

interface Place {
  /** Inside brackets that hold a unit. */
  inUnit: boolean;
  afterColonOrArrow: boolean;
}

const bond = StreamLanguage.define<Place>({
  name: "bond",
  startState: () => ({ inUnit: false, afterColonOrArrow: false }),
  token(stream, place) {
    if (stream.eatSpace()) return null;
    if (stream.match("///")) {
      stream.skipToEnd();
      return "docComment";
    }
    if (stream.match("//")) {
      stream.skipToEnd();
      return "comment";
    }
    if (stream.match(/^"[^"]*"?/)) return "string";
    if (place.inUnit) {
      if (stream.match(/^[^\]]+/)) return "unit";
      stream.next();
      place.inUnit = false;
      return "unit";
    }
    // A bracket behind a blank holds a unit; one behind a name is an index.
    if (stream.peek() === "[" && (stream.start === 0 || /\s/.test(stream.string[stream.start - 1] ?? " "))) {
      stream.next();
      place.inUnit = !/^\s*[-+]?[\d.]+\s*[,;\]]/.test(stream.string.slice(stream.pos));
      return place.inUnit ? "unit" : null;
    }
    if (stream.match(/^\|?[-=]>\|?/)) {
      place.afterColonOrArrow = true;
      return "operator";
    }
    if (stream.match(/^\d+(\.\d+)?([eE][-+]?\d+)?/)) {
      const isJunction = place.afterColonOrArrow && /^[01]$/.test(stream.current());
      place.afterColonOrArrow = false;
      return isJunction ? "kind" : "number";
    }
    const word = stream.match(/^[\p{L}_][\p{L}\p{N}_]*/u);
    if (word) {
      const name = stream.current();
      place.afterColonOrArrow = false;
      if (ITEMS.has(name) || WORDS.has(name)) return "keyword";
      if (KINDS.has(name) && /^\s*[({[]?/.test(stream.string.slice(stream.pos))) return "kind";
      return null;
    }
    const sign = stream.next();
    place.afterColonOrArrow = sign === ":" || (sign === "," && place.afterColonOrArrow);
    return null;
  },
  tokenTable: { docComment: tags.docComment, unit: tags.unit, kind: tags.typeName },
  languageData: { commentTokens: { line: "//" }, closeBrackets: { brackets: ["(", "[", "{", '"'] } },
});

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--code-keyword)" },
  { tag: tags.typeName, color: "var(--code-kind)" },
  { tag: tags.number, color: "var(--code-number)" },
  { tag: tags.unit, color: "var(--code-unit)" },
  { tag: tags.string, color: "var(--code-text)" },
  { tag: [tags.comment, tags.docComment], color: "var(--code-comment)", fontStyle: "italic" },
]);

export function bondLanguage(): LanguageSupport {
  return new LanguageSupport(bond, syntaxHighlighting(colours));
}
