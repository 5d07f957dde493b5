// Words of the text that are marked from outside: the selected element, the hovered one.

import { StateEffect, StateField, type EditorState, type Extension } from "@codemirror/state";
import { Decoration, EditorView, type DecorationSet } from "@codemirror/view";
import type { Span } from "../wire/protocol";

export interface Marks {
  selected: Span[];
  hovered: Span[];
}

export const setMarks = StateEffect.define<Marks>();

const selected = Decoration.mark({ class: "cm-selected-words" });
const selectedLine = Decoration.line({ class: "cm-selected-line" });
const hovered = Decoration.mark({ class: "cm-hovered-words" });

const field = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(set, transaction) {
    let next = set.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (!effect.is(setMarks)) continue;
      const { doc } = transaction.state;
      const inside = (s: Span): boolean => s.from < s.to && s.to <= doc.length;
      const ranges = [
        ...effect.value.selected.filter(inside).map((s) => selected.range(s.from, s.to)),
        ...effect.value.selected.filter(inside).map((s) => selectedLine.range(doc.lineAt(s.from).from)),
        ...effect.value.hovered.filter(inside).map((s) => hovered.range(s.from, s.to)),
      ];
      next = Decoration.set(ranges, true);
    }
    return next;
  },
  // Outside of the colours of words, which would cut the frame into pieces.
  provide: (field) => EditorView.outerDecorations.from(field),
});

export const marks: Extension = field;

export function hasMarks(state: EditorState): boolean {
  return (state.field(field, false)?.size ?? 0) > 0;
}
