// Colours for bond text: words by what they are, not by where they stand.

import { HighlightStyle, LanguageSupport, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { tags } from "@lezer/highlight";

const ITEMS = new Set("model lagrangian experiment use domain fn external extends units strict of".split(" "));
const WORDS = new Set(
  ("param input output port outer replaceable bond signal invariant when reinit sample solve return start guess for in by if then else and or not true false " +
    "layout with record plot vs measure compare within sweep optimize minimize maximize subject fit limit trim linearize let as at final stop method rtol atol " +
    "output_step constraints unpowered").split(" "),
);
/** Words of a Lagrangian, at the beginning of a line and before a name. */
const OF_LAGRANGIANS = new Set("coordinate given rate speed kinetic potential loss constraint".split(" "));
const KINDS = new Set("R C I Se Sf MSe MSf TF MTF GY MGY RS IC D Sw M".split(" "));

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
      const rest = stream.string.slice(stream.pos);
      // `C` may be the name of a parameter; an element stands behind a colon or an arrow, or has a value.
      const isPlaced = place.afterColonOrArrow || /^\s*\(/.test(rest);
      place.afterColonOrArrow = false;
      const isFirst = stream.string.slice(0, stream.start).trim() === "";
      if (ITEMS.has(name) || WORDS.has(name)) return "keyword";
      if (isFirst && OF_LAGRANGIANS.has(name) && /^\s+[\p{L}_]/u.test(rest)) return "keyword";
      return KINDS.has(name) && isPlaced ? "kind" : null;
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
