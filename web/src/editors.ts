// The texts: CodeMirror with the page's colours, and the places that a diagnostic names.
import { defaultKeymap, history, historyKeymap, indentWithTab, undo } from "@codemirror/commands";
import { cpp } from "@codemirror/lang-cpp";
import { bracketMatching, HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, setDiagnostics } from "@codemirror/lint";
import { EditorState, type Extension, StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers, placeholder } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { Mark } from "./ask";

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.controlKeyword, tags.modifier, tags.typeName, tags.standard(tags.typeName)], color: "var(--lw-edge3)" },
  { tag: [tags.number, tags.string, tags.character], color: "var(--lw-edge1)" },
  { tag: [tags.comment, tags.lineComment, tags.blockComment], color: "var(--lw-muted)", fontStyle: "italic" },
  { tag: [tags.processingInstruction, tags.meta], color: "var(--lw-edge2)" },
  { tag: [tags.function(tags.variableName), tags.labelName], color: "var(--lw-edge0)" },
]);

const script = StreamLanguage.define<null>({
  startState: () => null,
  token: stream => {
    if (stream.match(/#.*/)) return "comment";
    if (stream.match(/\d+/)) return "number";
    if (stream.match(/@\d+/)) return "labelName";
    if (stream.match(/[A-Za-z_]\w*(?=\s*\()/)) return "keyword";
    if (stream.match(/\w+/)) return null;
    stream.next();
    return null;
  },
});

const look = EditorView.theme({
  "&": { height: "100%", fontSize: "13px", color: "var(--lw-ink)", backgroundColor: "transparent" },
  ".cm-scroller": { fontFamily: "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace", lineHeight: "1.5" },
  ".cm-gutters": { backgroundColor: "transparent", color: "var(--lw-muted)", border: "none" },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--lw-edge0) 7%, transparent)" },
  ".cm-cursor": { borderLeftColor: "var(--lw-ink)" },
  "&.cm-focused": { outline: "none" },
  ".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": { backgroundColor: "color-mix(in srgb, var(--lw-edge0) 28%, transparent)" },
  ".cm-tooltip": { backgroundColor: "var(--lw-paper)", color: "var(--lw-ink)", border: "1px solid color-mix(in srgb, var(--lw-muted) 50%, transparent)", borderRadius: "6px" },
  ".cm-diagnostic": { borderLeftWidth: "4px" },
  ".cm-placeholder": { color: "var(--lw-muted)" },
});

const setLines = StateEffect.define<readonly { readonly line: number; readonly kind: string }[]>();
const lines = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (found, transaction) => {
    let next = found.map(transaction.changes);
    for (const effect of transaction.effects)
      if (effect.is(setLines)) {
        const known = effect.value.filter(one => one.line >= 1 && one.line <= transaction.state.doc.lines);
        next = Decoration.set(known.map(one => Decoration.line({ class: `line-${one.kind}` }).range(transaction.state.doc.line(one.line).from)), true);
      }
    return next;
  },
  provide: field => EditorView.decorations.from(field),
});

export class Editor {
  readonly view: EditorView;

  constructor(place: HTMLElement, language: "c" | "script" | "plain", changed: ((text: string) => void) | null, hint = "") {
    const kind: Extension = language === "c" ? cpp() : language === "script" ? script : [];
    const wrapped: Extension = language === "script" ? EditorView.lineWrapping : [];
    const reading: Extension = changed === null ? [EditorState.readOnly.of(true)] : [history(), highlightActiveLine()];
    const extensions: Extension = [
      lineNumbers(), drawSelection(), bracketMatching(), syntaxHighlighting(colours), kind, look, lines, wrapped, reading, placeholder(hint),
      keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
      EditorView.contentAttributes.of({ "aria-label": place.dataset["label"] ?? "text" }),
      EditorView.updateListener.of(update => { if (update.docChanged) changed?.(this.text); }),
    ];
    this.view = new EditorView({ parent: place, state: EditorState.create({ extensions }) });
  }

  get text(): string {
    return this.view.state.doc.toString();
  }

  set text(text: string) {
    if (text !== this.text) this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text } });
  }

  append(text: string): void {
    const end = this.view.state.doc.length;
    const gap = end > 0 && !this.text.endsWith("\n") ? "\n" : "";
    this.view.dispatch({ changes: { from: end, insert: `${gap}${text}\n` }, scrollIntoView: true });
  }

  /** Another text from this place to the end. */
  replaceFrom(at: number, text: string): void {
    this.view.dispatch({ changes: { from: at, to: this.view.state.doc.length, insert: `${text}\n` }, scrollIntoView: true });
  }

  undo(): void {
    undo(this.view);
    this.view.focus();
  }

  /** Underline what is wrong, and what the witness names. */
  mark(marks: readonly Mark[]): void {
    const length = this.view.state.doc.length;
    const found = marks.map((one): Diagnostic => ({
      from: Math.min(one.start, length), to: Math.min(Math.max(one.end, one.start + 1), length),
      severity: one.kind === "error" ? "error" : "warning", message: one.text,
    }));
    this.view.dispatch(setDiagnostics(this.view.state, found));
    const at = marks.map(one => ({ line: this.view.state.doc.lineAt(Math.min(one.start, length)).number, kind: one.kind }));
    this.view.dispatch({ effects: setLines.of(at) });
  }

  /** Bring the first of these words into view. */
  reveal(word: string): void {
    const text = this.view.state.doc, at = this.text.indexOf(word);
    if (at < 0) return;
    const first = text.line(Math.max(1, text.lineAt(at).number - 2));
    // The editor alone: CodeMirror's own effect would scroll the page as well.  In a text that is new, CodeMirror
    // keeps in view what was there before, for some frames: so the place is taken again.
    const aim = (frames: number): void => this.view.requestMeasure({
      read: view => (view.state.doc.eq(text) ? view.lineBlockAt(first.from).top : null),
      write: (top, view) => {
        if (top === null) return;
        view.scrollDOM.scrollTop = top;
        if (frames > 0) window.requestAnimationFrame(() => aim(frames - 1));
      },
    });
    aim(5);
  }
}
