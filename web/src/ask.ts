// Questions to the server: messages come one a line; a new question of a kind ends the one before.
import type { PictureData } from "./data";

export interface Mark { readonly side: "c" | "script" | "text"; readonly start: number; readonly end: number; readonly text: string; readonly kind: "error" | "witness" }
export interface Explained { readonly html: string; readonly marks: readonly Mark[]; readonly diagnostic: { readonly message: string; readonly code: string; readonly hint: string | null } | null }
/** What has a picture: a region of C, or the loops of a description. */
export interface Drawn { readonly line: number; readonly picture: PictureData | null }
export interface Region extends Explained {
  readonly line: number;
  readonly status: "proved" | "illegal" | "could not decide"; readonly word: string; readonly says: string;
  readonly obligations: number; readonly trusted: readonly string[]; readonly steps: readonly { readonly text: string; readonly summary: string; readonly page: string }[];
  /** Whether there is something that the new C says with OpenMP alone. */
  readonly for_openmp: boolean;
}
export interface RegionReport { readonly line: number; readonly proofs: readonly { readonly what: string; readonly obligations: number }[]; readonly assumptions: readonly string[]; readonly kept: boolean }
export interface Suggestion { readonly kind: string; readonly script: string; readonly reason: string; readonly legal: boolean; readonly reassociation: boolean; readonly speed: number | null; readonly price: string }

/** What is one statement to the script, and why. */
export interface Left { readonly line: number | null; readonly reason: string; readonly hint: string | null }

export type Message =
  | { readonly stage: "order"; readonly regions: readonly Region[] }
  | { readonly stage: "pictures"; readonly regions: readonly Drawn[] }
  | { readonly stage: "code"; readonly code: string; readonly regions: readonly RegionReport[]; readonly meaning: Readonly<Record<string, string>>; readonly notes: readonly string[]; readonly checked: readonly string[] }
  | { readonly stage: "suggestions"; readonly whole: boolean; readonly regions: readonly { readonly line: number; readonly suggestions: readonly Suggestion[]; readonly left: readonly Left[] }[] }
  | { readonly stage: "loops"; readonly code: string; readonly stats: string; readonly picture: PictureData | null }
  | { readonly stage: "proof"; readonly files: Readonly<Record<string, string>> }
  | { readonly stage: "timed"; readonly text: string; readonly ratio: number }
  | ({ readonly stage: "failed"; readonly verdict: string } & Explained);

const running = new Map<string, AbortController>();

/** Ask, and pass every message on, until all are there: true; or until a question of the same `slot` is asked: false. */
export async function ask(slot: string, question: object, heard: (message: Message) => void): Promise<boolean> {
  running.get(slot)?.abort();
  const control = new AbortController();
  running.set(slot, control);
  try {
    const response = await fetch("/ask", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(question), signal: control.signal });
    if (response.body === null) return false;
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      rest += value ?? "";
      const lines = rest.split("\n");
      rest = done ? "" : lines.pop()!;
      for (const line of lines) if (line.trim() && !control.signal.aborted) heard(JSON.parse(line) as Message);
      if (done) return !control.signal.aborted;
    }
  } catch (error) {
    if (control.signal.aborted) return false;
    const message = "the server does not respond: is 'loopwright serve' still running?";
    heard({ stage: "failed", verdict: "no answer", html: `<pre>${message}</pre>`, marks: [], diagnostic: { message, code: "", hint: null } });
    return false;
  } finally {
    if (running.get(slot) === control) running.delete(slot);
  }
}

/** End the questions of these slots: their processes are killed, and what is asked next has the machine. */
export function giveUp(...slots: readonly string[]): void {
  for (const slot of slots) {
    running.get(slot)?.abort();
    running.delete(slot);
  }
}
