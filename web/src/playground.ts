// The page of `loopwright serve`: sources above, the answer below, updated as you type.
import { ask, type Drawn, type Explained, giveUp, type Left, type Mark, type Message, type Region, type Suggestion } from "./ask";
import type { PictureData } from "./data";
import { byId, html } from "./dom";
import { Editor } from "./editors";
import { MovingPicture } from "./picture";
import { EMPTY, fromFragment, type State, toFragment } from "./state";

interface Menu { readonly examples: readonly { readonly id: string; readonly group: string; readonly title: string }[]; readonly first: string; readonly allow_run: boolean }

const KINDS: Readonly<Record<string, string>> = {
  "parallel loop": "Loops with independent iterations", interchange: "Loops that can be interchanged", tiling: "Loops that can be tiled", fusion: "Loops that can be fused",
  "unroll and jam": "Loops that can be unrolled and jammed", distribution: "Statements that can be distributed", vectors: "Conditional statements that can be in vectors", reordering: "Adjacent statements that can be reordered",
};

let state: State = EMPTY;
let pictures: MovingPicture[] = [];
let proved = false;
let typing: number | undefined;
let sizes: Readonly<Record<string, number>> = {};
let shownOrder: readonly Region[] = [];
let shownPictures: readonly Drawn[] = [];

const banner = byId("verdict"), why = byId("why"), below = byId("pictures"), proofs = byId("proofs"), offered = byId("suggestions");
const c = new Editor(byId("c"), "c", text => typed({ c: text }), "C with loops: a function, or the loops between #pragma scop and #pragma endscop");
const script = new Editor(byId("script"), "script", text => typed({ script: text }), "one operation per line, such as\ninterchange(S, i, j)\n\nS is a label, a statement's number S1, S2, …, or its line @4;\nor click a suggestion below");
const result = new Editor(byId("result"), "c", null, "the new C, once it is proved");
const loops = new Editor(byId("loops"), "plain", text => typed({ text }), "a description of a schedule");
const generated = new Editor(byId("generated"), "c", null);
const openmp = byId<HTMLInputElement>("openmp"), reassociation = byId<HTMLInputElement>("reassociation");
const form = byId<HTMLSelectElement>("form"), menu = byId<HTMLSelectElement>("menu");

/** The questions whose answers mean nothing once the texts are others. */
const ABOUT_THE_TEXTS = ["answer", "suggest", "preview", "sizes"];

function typed(change: Partial<State>): void {
  const next = { ...state, ...change };
  if (JSON.stringify(next) === JSON.stringify(state)) return;
  const other = next.c !== state.c || next.script !== state.script || next.text !== state.text;
  if (next.c !== state.c) offered.replaceChildren(); // they name statements of another program
  state = next;
  if (other) { sizes = {}; giveUp(...ABOUT_THE_TEXTS); offered.classList.add("stale"); }
  if (change.c !== undefined || change.text !== undefined) menu.selectedIndex = 0;
  document.body.classList.add("waiting");
  window.clearTimeout(typing);
  typing = window.setTimeout(answer, 40);
  void toFragment(state).then(fragment => window.history.replaceState(null, "", fragment));
}

function answer(): void {
  if (state.mode === "loops") {
    void ask("answer", { kind: "generate", text: state.text, form: state.form, sizes }, hearLoops);
    return;
  }
  const started = performance.now();
  const question = { kind: "transform", c: state.c, script: state.script, openmp: state.openmp, reassociation: state.reassociation, sizes };
  void ask("answer", question, message => hear(message, performance.now() - started)).then(whole => { if (whole) suggest(); });
}

function suggest(): void {
  if (!shownOrder.length || state.mode !== "c") { offered.replaceChildren(); return; }
  const end = refusedFrom();
  if (!offered.firstChild) offered.replaceChildren(html("p", { class: "muted" }, "Looking for suggestions …"));
  void ask("suggest", { kind: "suggest", c: state.c, script: state.script.slice(0, end) }, message => {
    offered.classList.remove("stale");
    if (message.stage === "suggestions") showSuggestions(message.regions.flatMap(region => region.suggestions), message.regions.flatMap(region => region.left), end, message.whole);
    else if (offered.querySelector(".suggestion") === null) offered.replaceChildren();
  });
}

/** Where the first line that is refused begins; the length of the script where none is. */
function refusedFrom(): number {
  const wrong = shownOrder.flatMap(region => region.marks.filter(one => one.side === "script" && one.kind === "error").map(one => one.start));
  return wrong.length ? state.script.lastIndexOf("\n", Math.min(...wrong) - 1) + 1 : state.script.length;
}

function hear(message: Message, elapsed: number): void {
  document.body.classList.remove("waiting");
  switch (message.stage) {
    case "order":
      shownOrder = message.regions;
      showOrder(message.regions, elapsed);
      return;
    case "pictures":
      shownPictures = message.regions;
      showPictures(shownPictures);
      return;
    case "code":
      proved = true;
      result.text = message.code;
      byId("result-pane").classList.remove("stale");
      result.reveal("#pragma scop");
      showProofs(message);
      if (state.script.trim()) setBanner("good", "Proved", `The new program computes the same as the original, for every problem size.${forOpenMP()}`, elapsed);
      enableDownloads();
      return;
    case "failed":
      shownOrder = [];
      refuse(message, wordFor(message.verdict), "open", message.diagnostic?.message ?? "", elapsed);
      pictures.forEach(one => one.stop());
      below.classList.add("stale");
      return;
    default:
      return;
  }
}

const forOpenMP = (): string => (!state.openmp && shownOrder.some(region => region.for_openmp) ? " Tick OpenMP to have pragmas written for the loops that may run at once." : "");

function showOrder(regions: readonly Region[], elapsed: number): void {
  const worst = regions.find(one => one.status === "illegal") ?? regions.find(one => one.status !== "proved");
  proved = false;
  enableDownloads();
  mark(regions.flatMap(region => [...region.marks]));
  if (worst === undefined) {
    why.replaceChildren();
    proofs.replaceChildren(...explained());
    setBanner("good", state.script.trim() ? "Legal" : "Read", state.script.trim() ? "Every dependence is preserved. Generating and proving the new C …" : "This is the program as it is written. Write a script, or click a suggestion.", elapsed);
    byId("result-pane").classList.add("stale");
    return;
  }
  refuse(worst, worst.word, worst.status === "illegal" ? "bad" : "open", worst.says, elapsed);
}

function refuse(what: Explained, word: string, look: "bad" | "open", says: string, elapsed: number): void {
  proved = false;
  result.text = "";
  proofs.replaceChildren(...("steps" in what ? explained() : []));
  enableDownloads();
  setBanner(look, word, says, elapsed);
  explain(what.html);
  if ("stage" in what) mark(what.marks);
}

/** Why not; of source lines that are too long, the part with the caret is seen first. */
function explain(text: string): void {
  why.innerHTML = text;
  for (const caret of why.querySelectorAll<HTMLElement>("pre span > span")) {
    const line = caret.parentElement!;
    line.scrollLeft = caret.offsetLeft - line.offsetLeft + caret.offsetWidth + 24 - line.clientWidth;
  }
}

const wordFor = (verdict: string): string => verdict.charAt(0).toUpperCase() + verdict.slice(1);

function mark(marks: readonly Mark[]): void {
  c.mark(marks.filter(one => one.side === "c"));
  script.mark(marks.filter(one => one.side === "script"));
}

function setBanner(look: string, word: string, text: string, elapsed: number): void {
  banner.className = `banner is${look}`;
  banner.replaceChildren(html("span", { class: `badge ${look}` }, word), " ", text, html("span", { class: "time" }, elapsed > 0 ? `${Math.round(elapsed)} ms` : ""));
  banner.dataset["verdict"] = word;
}

function showPictures(regions: readonly Drawn[], preview = false): void {
  below.classList.remove("stale");
  below.classList.toggle("preview", preview);
  const drawn = regions.filter(region => region.picture !== null);
  if (pictures.length !== drawn.length) {
    pictures.forEach(one => one.stop());
    pictures = drawn.map((region, k) => {
      const place = html("div");
      return new MovingPicture(place, region.picture!, { resize: chosen => resize(k, chosen) });
    });
    below.replaceChildren(...pictures.flatMap((one, k) => (drawn.length > 1 ? [html("h3", {}, `The region at line ${drawn[k]!.line}`), one.element] : [one.element])));
  } else {
    drawn.forEach((region, k) => pictures[k]!.update(region.picture!));
  }
  if (drawn.length === 0) below.replaceChildren(html("p", { class: "muted" }, regions.length ? "Nothing to draw: no statement is in a loop, or the loops are too large." : ""));
}

function resize(_: number, chosen: Readonly<Record<string, number>>): void {
  sizes = { ...sizes, ...chosen };
  if (state.mode === "loops") {
    void ask("sizes", { kind: "generate", text: state.text, form: state.form, sizes }, message => { if (message.stage === "loops") showLoops(message.picture); });
    return;
  }
  const question = { kind: "transform", c: state.c, script: state.script, openmp: state.openmp, reassociation: state.reassociation, sizes, order_only: true };
  void ask("sizes", question, message => { if (message.stage === "pictures") showPictures(message.regions); });
}

function showProofs(message: Extract<Message, { stage: "code" }>): void {
  const items = message.regions.flatMap(region => region.proofs.map(proof => html("li", {},
    html("b", {}, proof.what), html("span", { class: "muted" }, ` ${proof.obligations} obligation${proof.obligations === 1 ? "" : "s"}`),
    html("p", { class: "muted" }, message.meaning[proof.what] ?? ""))));
  const trusted = [...new Set(message.regions.flatMap(region => region.assumptions))];
  const who = message.checked.map(line => html("p", { class: "muted" }, `${line[0]!.toUpperCase()}${line.slice(1)}.`));
  proofs.replaceChildren(
    ...explained(),
    ...(items.length ? [html("h3", {}, "What was proved"), html("ul", { class: "proofs" }, ...items)] : []), ...who,
    ...(trusted.length ? [html("details", {}, html("summary", {}, "Taken on trust"), html("ul", {}, ...trusted.map(text => html("li", {}, text))))] : []),
    ...message.notes.map(note => html("p", { class: "muted" }, note)),
  );
}

/** What each operation of the script does, from its page in the documentation. */
function explained(): HTMLElement[] {
  const steps = shownOrder.flatMap(region => [...region.steps]);
  if (!steps.length) return [];
  const items = steps.map(step => html("li", {}, html("details", {}, html("summary", {}, html("code", {}, step.text), html("span", { class: "muted" }, ` ${step.summary}`)), html("pre", { class: "page" }, step.page))));
  return [html("h3", {}, "What the script does"), html("ol", { class: "steps" }, ...items)];
}

const FEW = 3;
/** How many suggestions of a kind are shown at once. */

function showSuggestions(found: readonly Suggestion[], left: readonly Left[], end: number, whole: boolean): void {
  if (offered.matches(":hover") && !whole) return;
  const legal = found.filter(one => one.legal && !one.reassociation);
  const best = (own: readonly Suggestion[]) => Math.max(...own.map(one => one.speed ?? 0));
  const groups = Object.entries(KINDS).map(([kind, title]) => ({ title, own: legal.filter(one => one.kind === kind) })).filter(group => group.own.length);
  groups.sort((a, b) => best(b.own) - best(a.own));
  const refused = shownOrder.some(region => region.status !== "proved");
  const line = state.script.slice(0, end).split("\n").length;
  const head = refused ? `Instead of line ${line}` : "Suggestions";
  const text = !legal.length ? (whole ? "No operation that was tried is legal here." : "Looking …")
    : `Each is proved legal${refused ? " in its place" : ""}; speedups are estimates of the cost model. Hover over one to preview it; click to apply it.`;
  const parts = groups.flatMap(({ title, own }) => {
    const more = own.slice(FEW).map(one => suggestion(one, end));
    return [html("h4", {}, title), ...own.slice(0, FEW).map(one => suggestion(one, end)), ...(more.length ? [html("details", {}, html("summary", { class: "muted" }, `${more.length} more`), ...more)] : [])];
  });
  offered.replaceChildren(html("h3", {}, head), html("p", { class: "muted" }, text), ...parts, ...leftAsItIs(left));
}

/** Why nothing was tried inside a statement; each reason and each hint once. */
function leftAsItIs(left: readonly Left[]): HTMLElement[] {
  if (!left.length) return [];
  const said = new Set<string>();
  const once = (text: string | null): string => (text === null || said.has(text) ? "" : (said.add(text), text));
  const items = left.flatMap(one => {
    const reason = once(`${one.line === null ? "" : `Line ${one.line}: `}${one.reason}`);
    return reason ? [html("li", {}, reason, html("p", { class: "muted" }, once(one.hint)))] : [];
  });
  return [html("h4", {}, "Not analysed: no operation was tried inside"), html("ul", { class: "proofs" }, ...items)];
}

function suggestion(one: Suggestion, end: number): HTMLElement {
  const price = one.price ? [html("b", { class: (one.speed ?? 1) < 0.95 ? "slower" : "" }, one.price), ": "] : [];
  const button = html("button", { type: "button", class: "suggestion" }, html("code", {}, one.script), html("span", { class: "muted" }, ...price, one.reason));
  const kept = state.script.slice(0, end);
  const preview = () => {
    const question = { kind: "transform", c: state.c, script: `${kept}\n${one.script}\n`, reassociation: state.reassociation, order_only: true };
    void ask("preview", question, message => { if (message.stage === "pictures") showPictures(message.regions, true); });
  };
  const back = () => { giveUp("preview"); if (below.classList.contains("preview")) showPictures(shownPictures); };
  button.addEventListener("pointerenter", preview);
  button.addEventListener("focus", preview);
  button.addEventListener("pointerleave", back);
  button.addEventListener("blur", back);
  button.addEventListener("click", () => {
    giveUp("preview");
    if (one.kind === "parallel loop" && !state.openmp) { openmp.checked = true; typed({ openmp: true }); }
    if (end < state.script.length) script.replaceFrom(end, one.script);
    else script.append(one.script);
  });
  return button;
}

function hearLoops(message: Message): void {
  document.body.classList.remove("waiting");
  if (message.stage === "loops") {
    generated.text = message.code;
    loops.mark([]);
    why.replaceChildren();
    showLoops(message.picture);
    setBanner("good", "Proved", `The loops run every instance of the schedule once, in its order: ${message.stats.trim()}.`, 0);
  } else if (message.stage === "failed") {
    generated.text = "";
    setBanner("open", wordFor(message.verdict), message.diagnostic?.message ?? "", 0);
    explain(message.html);
    pictures.forEach(one => one.stop());
    below.classList.add("stale");
    loops.mark(message.marks.filter(one => one.side === "text"));
  }
}

/** The picture of the loops of a description. */
function showLoops(picture: PictureData | null): void {
  showPictures([{ line: 1, picture }]);
}

function show(next: State): void {
  state = next;
  sizes = {};
  giveUp(...ABOUT_THE_TEXTS);
  answer(); // it is worked on while the page is drawn
  document.body.dataset["mode"] = next.mode;
  c.text = next.c; script.text = next.script; loops.text = next.text;
  openmp.checked = next.openmp; reassociation.checked = next.reassociation; form.value = next.form;
  byId<HTMLInputElement>(next.mode === "c" ? "mode-c" : "mode-loops").checked = true;
  document.body.classList.add("waiting");
  setBanner("idle", "…", "Reading", 0);
  for (const part of [why, proofs, offered]) part.replaceChildren();
  result.text = generated.text = "";
  pictures.forEach(one => one.stop());
  pictures = []; // what was chosen in the picture of another program has no meaning here
  if (next.mode === "loops") below.replaceChildren();
  c.reveal("#pragma scop");
  void toFragment(state).then(fragment => window.history.replaceState(null, "", fragment));
}

async function open(id: string): Promise<void> {
  giveUp(...ABOUT_THE_TEXTS);
  const response = await fetch(`/example/${id}`);
  if (!response.ok) return;
  const found = (await response.json()) as { c: string; script: string; text: string; form: string };
  menu.value = id;
  show({ ...EMPTY, mode: found.form ? "loops" : "c", c: found.c, script: found.script, text: found.text, form: found.form || "poly" });
}

function download(name: string, text: string): void {
  const link = html("a", { href: URL.createObjectURL(new Blob([text], { type: "text/plain" })), download: name });
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function enableDownloads(): void {
  for (const id of ["save-result", "save-proof", "time"]) byId<HTMLButtonElement>(id).disabled = !proved;
}

function on(id: string, act: () => void): void {
  byId(id).addEventListener("click", act);
}

function setTheme(theme: string): void {
  if (theme === "auto") document.documentElement.removeAttribute("data-theme");
  else document.documentElement.dataset["theme"] = theme;
  window.localStorage.setItem("loopwright-theme", theme);
  byId<HTMLSelectElement>("theme").value = theme;
}

async function main(): Promise<void> {
  setTheme(window.localStorage.getItem("loopwright-theme") ?? "auto");
  byId("theme").addEventListener("change", () => setTheme(byId<HTMLSelectElement>("theme").value));
  openmp.addEventListener("change", () => typed({ openmp: openmp.checked }));
  reassociation.addEventListener("change", () => typed({ reassociation: reassociation.checked }));
  form.addEventListener("change", () => typed({ form: form.value }));
  byId("mode-c").addEventListener("change", () => show({ ...state, mode: "c" }));
  byId("mode-loops").addEventListener("change", () => show({ ...state, mode: "loops" }));
  on("undo", () => (state.mode === "c" ? (c.view.hasFocus ? c : script) : loops).undo());
  on("save-c", () => download("kernel.c", state.c));
  on("save-script", () => download("script.lw", state.script));
  on("save-result", () => download("kernel-new.c", result.text));
  on("save-loops", () => download("loops.c", generated.text));
  on("save-proof", () => {
    const button = byId("save-proof");
    button.textContent = "asking Coq …";
    button.title = "The first proof takes a minute: the library is compiled";
    void ask("proof", { kind: "proof", c: state.c, script: state.script }, message => {
      if (message.stage === "proof") for (const [name, text] of Object.entries(message.files)) download(name, text);
      else if (message.stage === "failed") explain(message.html);
    }).then(() => { button.textContent = "Proof"; });
  });
  on("link", () => {
    void navigator.clipboard.writeText(window.location.href);
    byId("link").textContent = "Link copied";
    window.setTimeout(() => { byId("link").textContent = "Copy link"; }, 1500);
  });
  on("time", () => {
    const button = byId("time");
    button.textContent = "compiling and running …";
    void ask("time", { kind: "run", c: state.c, script: state.script, openmp: state.openmp }, message => {
      if (message.stage === "timed") why.replaceChildren(html("pre", {}, message.text));
      else if (message.stage === "failed") explain(message.html);
    }).then(() => { button.textContent = "Time it"; });
  });
  const start = (await (await fetch("/menu")).json()) as Menu;
  byId("time").hidden = !start.allow_run;
  const groups = new Map<string, HTMLOptGroupElement>();
  for (const one of start.examples) {
    if (!groups.has(one.group)) groups.set(one.group, html("optgroup", { label: one.group }));
    groups.get(one.group)!.append(html("option", { value: one.id }, one.title));
  }
  menu.append(...groups.values());
  menu.addEventListener("change", () => void open(menu.value));
  window.addEventListener("hashchange", () => void fromFragment(window.location.hash).then(found => { if (found) { menu.selectedIndex = 0; show(found); } }));
  const kept = await fromFragment(window.location.hash);
  if (kept) show(kept);
  else await open(start.first);
}

void main();
