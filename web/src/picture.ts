// A moving picture: both orders beside each other, run step by step, with the cells that are touched.
import { Memory } from "./cells";
import { decoded, exampleOf, type Instance, type Order, type Picture, type PictureData } from "./data";
import { html, svg } from "./dom";
import { type Choice, choiceOf, isShown, stillOf, type Turn, turnFor } from "./layout";
import { chosenArrows, drawnArrow, glyph, kindOf, kindOfArrow, type Seen, View } from "./view";

const TITLES: Readonly<Record<Order, string>> = { before: "Order as written", after: "Order after the script" };
const TRAIL = 10;

export interface Options {
  /** Called with new sizes, and the one that changed; without it there are no sliders. */
  readonly resize?: (sizes: Readonly<Record<string, number>>, changed: string) => void;
}

interface PanelState { choice: Choice; readonly views: View[]; readonly instances: readonly Instance[]; readonly controls: HTMLElement }

export class MovingPicture {
  private picture!: Picture;
  private panels: PanelState[] = [];
  private memories: Partial<Record<Order, Memory>> = {};
  /** Over the panels of an order, for arrows from one to another. */
  private between: Partial<Record<Order, SVGSVGElement>> = {};
  private turn: Turn | null = null;
  private step: number | null = null;
  private hovered: number | null = null;
  private arrows = false;
  private timer: number | undefined;
  private speed = 1;
  private readonly bar = html("div", { class: "lwm-bar" });
  private readonly sizes = html("div", { class: "lwm-sizes" });
  private readonly captions = html("div", { class: "lwm-captions" });
  private readonly columns = html("div", { class: "lwm-columns" });
  private readonly says = html("p", { class: "lwm-says", "aria-live": "polite" });
  private readonly legend = html("div", { class: "lwm-legend" });
  private readonly play = html("button", { type: "button", class: "lwm-play", title: "Play the execution step by step" }, "▶ Play");
  private readonly scrub = html("input", { type: "range", min: 0, max: 0, value: 0, class: "lwm-scrub", "aria-label": "step" });
  private readonly count = html("output", { class: "lwm-count" });
  private readonly all = html("input", { type: "checkbox" });

  constructor(readonly element: HTMLElement, data: PictureData, private readonly options: Options = {}) {
    element.classList.add("lwm");
    element.replaceChildren(this.bar, this.sizes, this.captions, this.columns, this.says, this.legend);
    this.fillBar();
    this.update(data);
    new ResizeObserver(() => this.drawBetween()).observe(this.columns);
  }

  /** Another picture in the same place; what the reader chose stays, where it still has a meaning. */
  update(data: PictureData): void {
    const before = this.picture as Picture | undefined;
    const choices = this.panels.map(panel => panel.choice.axes);
    this.picture = decoded(data);
    const same = before !== undefined && JSON.stringify(before.data.panels.map(one => one.axes)) === JSON.stringify(data.panels.map(one => one.axes));
    if (!same) { this.stop(); this.step = null; this.turn = null; }
    this.hovered = null;
    this.fillColumns(same ? choices : []);
    this.fillSizes();
    this.fillLegend();
    this.fillCaptions();
    this.all.parentElement!.hidden = !this.picture.touches;
    if (this.step !== null) this.step = Math.min(this.step, this.last);
    this.scrub.max = String(this.last + 1);
    this.refresh();
  }

  /** Stop what runs by itself. */
  stop(): void {
    window.clearInterval(this.timer);
    this.timer = undefined;
    this.play.textContent = "▶ Play";
  }

  private get orders(): readonly Order[] {
    return this.picture.changed ? ["before", "after"] : ["before"];
  }

  private get last(): number {
    return Math.max(...this.orders.map(order => this.picture.steps[order])) - 1;
  }

  private fillBar(): void {
    const button = (text: string, title: string, act: () => void) => {
      const made = html("button", { type: "button", title }, text);
      made.addEventListener("click", act);
      return made;
    };
    this.play.addEventListener("click", () => (this.timer === undefined ? this.start() : this.stop()));
    this.scrub.addEventListener("input", () => { this.stop(); this.goTo(Number(this.scrub.value) - 1); });
    const speeds = html("select", { "aria-label": "speed" }, ...[0.5, 1, 2, 4].map(one => html("option", { value: one, selected: one === 1 }, `${one}×`)));
    speeds.addEventListener("change", () => { this.speed = Number(speeds.value); if (this.timer !== undefined) { this.stop(); this.start(); } });
    this.all.addEventListener("change", () => { this.arrows = this.all.checked; this.refresh(); });
    this.bar.append(
      this.play,
      button("‹", "Previous step", () => { this.stop(); this.goTo((this.step ?? this.last + 1) - 1); }),
      button("›", "Next step", () => { this.stop(); this.goTo((this.step ?? -1) + 1); }),
      button("All", "Everything at once, with numbers", () => { this.stop(); this.goTo(-1); }),
      this.scrub, this.count, speeds,
      html("label", { class: "lwm-check" }, this.all, "all dependences"),
    );
  }

  private start(): void {
    if (this.step === null || this.step >= this.last) this.step = -1;
    this.play.textContent = "⏸ Pause";
    const tick = () => {
      if ((this.step ?? -1) >= this.last) { this.stop(); return; }
      this.goTo((this.step ?? -1) + 1);
    };
    const pace = Math.max(25, Math.min(380, 14000 / (this.last + 1))) / this.speed;
    this.timer = window.setInterval(tick, pace);
    tick();
  }

  private goTo(step: number): void {
    this.step = step < 0 ? null : Math.min(step, this.last);
    this.followHidden();
    this.refresh();
  }

  /** Axes that are not drawn move along with what runs. */
  private followHidden(): void {
    this.panels.forEach((panel, k) => {
      if (this.step === null || panel.choice.still.size === 0) return;
      const order: Order = this.orders.at(-1)!;
      const now = panel.instances.find(one => one[order] === this.step);
      if (!now || [...panel.choice.still].every(([axis, value]) => now.where[axis] === value)) return;
      panel.choice = { axes: panel.choice.axes, still: new Map([...panel.choice.still.keys()].map(axis => [axis, now.where[axis]!])) };
      this.redraw(k);
    });
  }

  private fillColumns(choices: readonly (readonly number[])[]): void {
    this.memories = {};
    this.between = {};
    this.panels = this.picture.data.panels.map((panel, k) => {
      const instances = this.picture.instances.filter(one => one.panel === k);
      const kept = choices[k];
      const choice = kept ? { axes: kept, still: stillOf(panel, instances, kept) } : choiceOf(panel, instances);
      return { choice, views: [], instances, controls: html("div", { class: "lwm-axes" }) };
    });
    this.columns.replaceChildren(...this.orders.map(order => {
      const memory = new Memory(this.picture);
      this.memories[order] = memory;
      const views = this.panels.map((panel, k) => {
        const view = new View(this.picture, this.picture.data.panels[k]!, panel.instances, order, number => this.hover(number));
        panel.views.push(view);
        this.turnable(view, k);
        return html("div", { class: "lwm-panel" }, view.element);
      });
      const title = this.picture.changed ? TITLES[order] : "The order it runs in";
      const between = svg("svg", { class: "lwm-between" });
      this.between[order] = between;
      return html("section", { class: "lwm-column" }, html("h4", {}, title), html("div", { class: "lwm-panels" }, ...views, between), memory.element);
    }));
    this.panels.forEach((_, k) => this.redraw(k));
  }

  private redraw(k: number): void {
    const panel = this.panels[k]!;
    for (const view of panel.views) view.draw(panel.choice, this.turnOf(panel));
    this.fillAxes(k);
  }

  private turnOf(panel: PanelState): Turn {
    return this.turn ?? turnFor(panel.instances, panel.choice);
  }

  /** Three axes turn under the pointer. */
  private turnable(view: View, k: number): void {
    let from: { x: number; y: number; turn: Turn } | null = null;
    view.element.addEventListener("pointerdown", event => {
      if (this.panels[k]!.choice.axes.length !== 3) return;
      from = { x: event.clientX, y: event.clientY, turn: this.turnOf(this.panels[k]!) };
      view.element.setPointerCapture(event.pointerId);
    });
    view.element.addEventListener("pointermove", event => {
      if (from === null) return;
      const yaw = from.turn.yaw + (event.clientX - from.x) / 140;
      const pitch = Math.max(-1.4, Math.min(1.4, from.turn.pitch + (event.clientY - from.y) / 140));
      this.turn = { yaw, pitch, chosen: true };
      this.panels.forEach((panel, n) => { if (panel.choice.axes.length === 3) this.redraw(n); });
      this.refresh();
    });
    for (const end of ["pointerup", "pointercancel"] as const) view.element.addEventListener(end, () => { from = null; });
  }

  /** Which loops are drawn, where there are three or more; sliders for the others. */
  private fillAxes(k: number): void {
    const panel = this.panels[k]!, axes = this.picture.data.panels[k]!.axes;
    if (axes.length < 3) { panel.controls.replaceChildren(); return; }
    const boxes = axes.map((name, axis) => {
      const box = html("input", { type: "checkbox", checked: panel.choice.axes.includes(axis) });
      box.addEventListener("change", () => {
        const chosen = box.checked ? [...panel.choice.axes, axis] : panel.choice.axes.filter(one => one !== axis);
        const kept = (chosen.length > 3 ? chosen.filter(one => one !== panel.choice.axes[0]) : chosen).sort((a, b) => a - b);
        if (kept.length === 0) { box.checked = true; return; }
        panel.choice = { axes: kept, still: stillOf(this.picture.data.panels[k]!, panel.instances, kept) };
        this.redraw(k); this.refresh();
      });
      return html("label", { class: "lwm-check" }, box, name);
    });
    const still = [...panel.choice.still].map(([axis, value]) => {
      const values = panel.instances.map(one => one.where[axis]!);
      const slider = html("input", { type: "range", min: Math.min(...values), max: Math.max(...values), value });
      slider.addEventListener("input", () => {
        panel.choice = { axes: panel.choice.axes, still: new Map([...panel.choice.still, [axis, Number(slider.value)]]) };
        for (const view of panel.views) view.draw(panel.choice, this.turnOf(panel));
        text.textContent = `${axes[axis]} = ${slider.value}`;
        this.refresh();
      });
      const text = html("span", {}, `${axes[axis]} = ${value}`);
      return html("label", { class: "lwm-check" }, text, slider);
    });
    panel.controls.replaceChildren(html("span", { class: "lwm-what" }, `loops drawn${this.whose(k)}:`), ...boxes, ...still, ...(panel.choice.axes.length === 3 ? [html("span", { class: "lwm-what" }, "drag to turn")] : []));
  }

  /** Which statements a panel is of, where there are several panels. */
  private whose(k: number): string {
    const { panels, statements } = this.picture.data;
    const names = statements.filter(one => one.panel === k).map(one => /\((.*)\)$/.exec(one.label)?.[1] ?? one.name);
    return panels.length < 2 ? "" : ` of ${names.slice(0, 3).join(", ")}${names.length > 3 ? " …" : ""}`;
  }

  /** Where only values change the sliders stay, so that one can be dragged on. */
  private fillSizes(): void {
    const { sizes } = this.picture.data;
    const names = sizes.map(one => one.name).join();
    if (this.sizes.dataset["names"] === names && this.sizes.contains(document.activeElement)) {
      this.sizes.append(...this.panels.map(panel => panel.controls));
      this.sizes.querySelectorAll(".lwm-axes").forEach(one => { if (!this.panels.some(panel => panel.controls === one)) one.remove(); });
      return;
    }
    this.sizes.dataset["names"] = names;
    const values: Record<string, number> = Object.fromEntries(sizes.map(one => [one.name, one.value]));
    const sliders = this.options.resize === undefined ? [] : sizes.map(one => {
      const slider = html("input", { type: "range", min: one.least, max: one.most, value: one.value, "aria-label": one.name });
      const text = html("span", {}, `${one.name} = ${one.value}`);
      slider.addEventListener("input", () => {
        text.textContent = `${one.name} = ${slider.value}`;
        values[one.name] = Number(slider.value);
        this.options.resize!(values, one.name);
      });
      return html("label", { class: "lwm-check" }, text, slider);
    });
    this.sizes.replaceChildren(...sliders, ...this.panels.map(panel => panel.controls));
  }

  private fillLegend(): void {
    const { data } = this.picture;
    const items = data.statements.map((one, k) => {
      const sample = svg("svg", { width: 20, height: 20, viewBox: "-11 -11 22 22", class: `lwm-dot ${kindOf(k)}` }, glyph(k, 7.5));
      return html("span", { class: "lwm-item" }, sample, html("b", {}, one.label), " ", html("code", {}, one.text));
    });
    const lines: [string, string][] = [["path", "runs next"]];
    if (this.picture.touches) lines.push(["kept", "dependence, kept"]);
    if (this.picture.arrows.some(one => one.free)) lines.push(["free", this.picture.arrows.find(one => one.free)!.free]);
    if (this.picture.arrows.some(one => one.broken)) lines.push(["broken", "dependence, violated"]);
    const samples = lines.map(([kind, text]) => html("span", { class: "lwm-item" }, html("i", { class: `lwm-line ${kind}` }), text));
    if (data.tile) samples.push(html("span", { class: "lwm-item" }, html("i", { class: "lwm-line tile" }), data.tile));
    const cells = !this.picture.touches ? [] : [html("span", { class: "lwm-item" }, html("i", { class: "lwm-cell read" }), "cell read"), html("span", { class: "lwm-item" }, html("i", { class: "lwm-cell written" }), "cell written")];
    const notes = data.notes.map(note => html("span", { class: "lwm-item" }, `${note}.`));
    this.legend.replaceChildren(...items, ...samples, ...cells, ...notes);
  }

  private fillCaptions(): void {
    const said = this.picture.data.captions.map(one => html("p", {}, html("b", {}, `${one.title}. `), one.text));
    this.captions.replaceChildren(...said);
  }

  private hover(number: number | null): void {
    this.hovered = number;
    this.refresh();
  }

  private get example(): Instance | null {
    return exampleOf(this.picture, one => isShown(one, this.panels[one.panel]!.choice));
  }

  private get seen(): Seen {
    return { step: this.step, hovered: this.hovered, arrows: this.arrows, witness: true, example: this.example };
  }

  /** Arrows from one panel to another, where both ends are drawn. */
  private drawBetween(): void {
    const { instances } = this.picture;
    const chosen = this.panels.length < 2 ? [] : chosenArrows(this.picture, this.seen).filter(([one]) => instances[one.source]!.panel !== instances[one.sink]!.panel);
    this.orders.forEach((order, n) => {
      const over = this.between[order]!, corner = over.getBoundingClientRect();
      over.replaceChildren(...chosen.flatMap(([arrow, strong]) => {
        const [from, to] = [arrow.source, arrow.sink].map(number => this.panels[instances[number]!.panel]!.views[n]!.inWindow(number));
        if (!from || !to) return [];
        const [a, b] = [from, to].map(({ x, y }) => ({ x: x - corner.x, y: y - corner.y }));
        return drawnArrow(a!, b!, to.radius, kindOfArrow(arrow, strong, order));
      }));
    });
  }

  private refresh(): void {
    const seen = this.seen;
    for (const panel of this.panels) for (const view of panel.views) view.show(seen);
    this.drawBetween();
    for (const order of this.orders) this.memories[order]!.show(...this.touching(order));
    this.scrub.value = String(this.step === null ? 0 : this.step + 1);
    this.count.textContent = this.step === null ? `${this.last + 1} steps` : `step ${this.step + 1} of ${this.last + 1}`;
    this.says.replaceChildren(...this.sentence());
  }

  private touching(order: Order): [now: Instance[], trail: Instance[]] {
    if (this.hovered !== null) return [[this.picture.instances[this.hovered]!], []];
    if (this.step === null) return [[], []];
    const step = this.step;
    const trail = this.picture.instances.filter(one => one[order] < step && one[order] >= step - TRAIL);
    return [this.picture.instances.filter(one => one[order] === step), trail.sort((a, b) => a[order] - b[order])];
  }

  private sentence(): (Node | string)[] {
    if (this.hovered !== null) return this.about(this.picture.instances[this.hovered]!);
    if (this.step !== null) {
      const now = (order: Order) => {
        const running = this.picture.instances.filter(one => one[order] === this.step);
        const names = running.slice(0, 4).map(one => one.name).join(", ") + (running.length > 4 ? ` and ${running.length - 4} more at once` : "");
        return running.length ? names : "all is done";
      };
      return this.picture.changed
        ? ["now, as written: ", html("b", {}, now("before")), "; after the script: ", html("b", {}, now("after"))]
        : ["now: ", html("b", {}, now("before")), " ", html("code", {}, this.picture.instances.find(one => one.before === this.step)?.text ?? "")];
    }
    const { witness } = this.picture.data;
    if (witness) {
      const [first, second] = witness.map(number => this.picture.instances[number]!.name);
      return ["Circled in red: ", html("b", {}, first!), " must run before ", html("b", {}, second!), ", but after the script it does not."];
    }
    const example = this.example;
    return [
      "Each dot is one execution of a statement; its number says when it runs. ",
      ...(example ? ["Arrows are dependences; these show what ", html("b", {}, example.name), " depends on. "] : []),
      this.picture.touches ? "Hover over a dot to see its dependences." : "",
    ];
  }

  private about(one: Instance): (Node | string)[] {
    const { arrows, instances } = this.picture;
    const listed = (numbers: number[]) => {
      const names = [...new Set(numbers)].map(number => instances[number]!.name);
      return names.slice(0, 5).join(", ") + (names.length > 5 ? ` and ${names.length - 5} more` : "");
    };
    const after = arrows.filter(arrow => arrow.sink === one.number).map(arrow => arrow.source);
    const first = arrows.filter(arrow => arrow.source === one.number).map(arrow => arrow.sink);
    const when = this.picture.changed ? ` runs in step ${one.before + 1} as written, ${one.after + 1} after the script` : ` runs in step ${one.before + 1}`;
    return [
      html("b", {}, one.name), " ", html("code", {}, one.text), when,
      one.tile && this.picture.data.tiles_in_order ? `, in tile ${one.tile}` : "",
      !this.picture.touches ? "" : after.length ? `; depends on ${listed(after)}` : "; depends on nothing",
      first.length ? `; awaited by ${listed(first)}.` : ".",
    ];
  }
}
