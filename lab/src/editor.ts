// The editor of a scenario: CodeMirror with TOML, completion, and the error at its line.

import { autocompletion, completionKeymap, type CompletionContext } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { lintGutter, setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { offers, pathAt, type Schema } from "./schema";

// The colours are the page's, which has them for light and dark.
const COLOURS = HighlightStyle.define([
  { tag: tags.comment, color: "var(--quiet)" },
  { tag: tags.string, color: "var(--string)" },
  { tag: [tags.number, tags.bool, tags.atom], color: "var(--number)" },
  { tag: [tags.heading, tags.propertyName], color: "var(--accent)" },
]);

export class Editor {
  private readonly view: EditorView;

  constructor(parent: HTMLElement, label: string, schema: () => Schema, onChange: () => void) {
    const complete = (context: CompletionContext) => {
      const word = context.matchBefore(/["\w-]*/);
      if (!word || (word.from === word.to && !context.explicit)) return null;
      const { path, key } = pathAt(context.state.doc.toString(), word.from);
      const options = offers(schema(), path, key).map(({ label, detail }) => ({ label, info: detail || undefined }));
      return { from: word.from, options: options as { label: string; info?: string }[] };
    };
    this.view = new EditorView({
      parent,
      state: EditorState.create({
        extensions: [
          lineNumbers(),
          history(),
          // Tab leaves the editor, as it leaves every other part of the page.
          keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap]),
          StreamLanguage.define(toml),
          syntaxHighlighting(COLOURS),
          autocompletion({ override: [complete] }),
          lintGutter(),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ "aria-label": label }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) onChange();
          }),
        ],
      }),
    });
  }

  get text(): string {
    return this.view.state.doc.toString();
  }

  set text(text: string) {
    if (text === this.text) return;
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text } });
  }

  /** Marks an error at its line, which counts from 1. */
  mark(message: string, line: number, column: number): void {
    const { doc } = this.view.state;
    const at = doc.line(Math.min(Math.max(line, 1), doc.lines));
    const from = Math.min(at.from + Math.max(column - 1, 0), at.to);
    const error: Diagnostic = { from, to: at.to, severity: "error", message };
    this.view.dispatch(setDiagnostics(this.view.state, [error]));
  }

  clear(): void {
    this.view.dispatch(setDiagnostics(this.view.state, []));
  }
}
