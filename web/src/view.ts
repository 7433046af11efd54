// One panel in one order: its instances as dots, tiles around them, the order as a path, dependences as arrows.
import type { Arrow, Instance, Order, Panel, Picture } from "./data";
import { svg } from "./dom";
import { type Choice, isShown, isInside, type Layout, layout, outline, OUTSIDE, type Spot, type Turn } from "./layout";

const FADED = 130;
/** With more arrows than this, all of them at once would hide the picture. */

export interface Seen {
  readonly step: number | null; readonly hovered: number | null; readonly arrows: boolean; readonly witness: boolean;
  /** The arrows into it are drawn where nothing else is. */
  readonly example: Instance | null;
}

export class View {
  readonly element = svg("svg", { class: "lwm-view" });
  private readonly dots = new Map<number, SVGGElement>();
  private readonly over = svg("g");
  private readonly under = svg("g", { "pointer-events": "none" });
  private place!: Layout;
  private far = 0;
  /** Whether outlines of all tiles would hold dots of others: then one tile is outlined at a time. */
  private singly = false;

  constructor(
    private readonly picture: Picture,
    private readonly panel: Panel,
    private readonly instances: readonly Instance[],
    private readonly order: Order,
    private readonly hover: (instance: number | null) => void,
  ) {}

  /** Draw everything anew: another choice of axes, or another angle. */
  draw(choice: Choice, turn: Turn): void {
    this.place = layout(this.panel, this.instances, choice, turn, this.picture.data.panels.length);
    const { width, height, spots } = this.place;
    this.far = Math.max(0, ...[...spots.values()].map(one => Math.abs(one.depth)));
    this.singly = this.far > 0 && this.order === "after" && this.picture.data.tile !== "" && this.isCovered();
    this.element.setAttribute("viewBox", `0 0 ${round(width)} ${round(height)}`);
    this.element.setAttribute("width", String(round(width)));
    this.element.setAttribute("height", String(round(height)));
    this.element.replaceChildren(...this.rulers(), this.under, ...this.tiles(), ...this.path(choice));
    this.dots.clear();
    const shown = this.instances.filter(one => isShown(one, choice));
    shown.sort((a, b) => this.spot(b).depth - this.spot(a).depth);
    for (const one of shown) this.element.append(this.dot(one));
    this.over.replaceChildren();
    this.element.append(this.over);
  }

  /** Light up what runs at a step, what is hovered, and what is wrong. */
  show(seen: Seen): void {
    const { step, hovered } = seen;
    for (const [number, dot] of this.dots) {
      const own = this.picture.instances[number]![this.order];
      dot.classList.toggle("now", step !== null && own === step);
      dot.classList.toggle("done", step !== null && own < step);
      dot.classList.toggle("later", step !== null && own > step);
      dot.classList.toggle("hovered", number === hovered);
    }
    this.showTile(this.tileOf(seen));
    this.over.replaceChildren(...this.arrows(seen).flatMap(([arrow, strong]) => this.arrow(arrow, strong)), ...this.rings(seen));
  }

  private spot(one: Instance): Spot {
    return this.place.spots.get(one.number)!;
  }

  private rulers(): SVGElement[] {
    const lines = this.place.lines.map(({ from, to }) => svg("line", { class: "lwm-axis", x1: round(from.x), y1: round(from.y), x2: round(to.x), y2: round(to.y) }));
    return [...lines, ...this.place.rulers.map(one => svg("text", { class: one.name ? "lwm-name" : "lwm-value", x: round(one.x), y: round(one.y) }, one.text, ...(one.text === OUTSIDE ? [svg("title", {}, "statements outside of this loop")] : [])))];
  }

  private tiles(): SVGElement[] {
    if (this.order === "before" || !this.picture.data.tile) return [];
    if (this.singly) return [];
    const members = this.members();
    const waves = !this.picture.data.tiles_in_order && [...members.values()].some(isSlanting);
    return [...members].flatMap(([tile, spots]) => {
      if (waves && (spots.length === 1 || isSlanting(spots))) return [this.band(tile, spots)];
      return this.tile(tile, spots, this.picture.data.tiles_in_order && members.size > 1);
    });
  }

  /** The spots of each tile. */
  private members(): Map<number, Spot[]> {
    const found = new Map<number, Spot[]>();
    for (const one of this.instances) {
      const spot = this.place.spots.get(one.number);
      if (one.tile && spot) found.set(one.tile, [...(found.get(one.tile) ?? []), spot]);
    }
    return found;
  }

  private isCovered(): boolean {
    const members = this.members();
    return [...members].some(([tile, spots]) => {
      const corners = outline(spots, 1);
      return [...members].some(([other, own]) => other !== tile && own.some(spot => isInside(spot, corners)));
    });
  }

  /** Where tiles in a box cover each other: the one that runs, or is pointed at, or the largest as an example. */
  private tileOf({ step, hovered }: Seen): number | undefined {
    if (!this.singly) return undefined;
    const members = this.members();
    const largest = [...members].reduce((best, one) => (one[1].length > best[1].length ? one : best))[0];
    const running = this.instances.find(one => one.after === step)?.tile;
    const tile = hovered !== null ? this.picture.instances[hovered]!.tile : step !== null ? running : largest;
    return tile && members.has(tile) ? tile : undefined;
  }

  /** Outline one tile; dots of others, which may lie before it or behind it, are pale. */
  private showTile(tile: number | undefined): void {
    this.under.replaceChildren(...(tile === undefined ? [] : this.tile(tile, this.members().get(tile)!, true)));
    for (const [number, dot] of this.dots)
      dot.classList.toggle("elsewhere", tile !== undefined && this.picture.instances[number]!.tile !== tile);
  }

  private tile(tile: number, spots: readonly Spot[], numbered: boolean): SVGElement[] {
    const corners = outline(spots, this.place.radius + 3.5);
    const kind = `lwm-tile tile${(tile - 1) % 5}`;
    const shape = svg("polygon", { class: kind, points: corners.map(({ x, y }) => `${round(x)},${round(y)}`).join(" ") });
    const corner = corners.reduce((best, one) => (one.x + one.y < best.x + best.y ? one : best));
    return numbered ? [shape, svg("text", { class: `lwm-number tile${(tile - 1) % 5}`, x: round(corner.x - 1), y: round(corner.y - 1) }, String(tile))] : [shape];
  }

  /** A slanting line through spots that run at once: outlines of such would cover each other. */
  private band(tile: number, spots: readonly Spot[]): SVGElement {
    const points = spots.map(({ x, y }) => `${round(x)},${round(y)}`).join(" ");
    return svg("polyline", { class: `lwm-tile lwm-band tile${(tile - 1) % 5}`, points });
  }

  /** From each instance to the one that runs next, where one runs at a time. */
  private path(choice: Choice): SVGElement[] {
    const ordered = this.instances.filter(one => isShown(one, choice)).sort((a, b) => a[this.order] - b[this.order]);
    const parts: SVGElement[] = [];
    for (let k = 1; k < ordered.length; k++) {
      const [one, two] = [ordered[k - 1]!, ordered[k]!];
      const alone = ordered[k - 2]?.[this.order] !== one[this.order] && ordered[k + 1]?.[this.order] !== two[this.order];
      if (one[this.order] === two[this.order] || !alone) continue;
      const [a, b] = [this.spot(one), this.spot(two)];
      const far = Math.hypot(a.x - b.x, a.y - b.y) > 8.2 * this.place.radius;
      parts.push(svg("line", { class: far ? "lwm-path far" : "lwm-path", x1: round(a.x), y1: round(a.y), x2: round(b.x), y2: round(b.y) }));
    }
    return parts;
  }

  private dot(one: Instance): SVGGElement {
    const { x, y, depth } = this.spot(one);
    const r = this.place.radius;
    const text = String(one[this.order] + 1);
    const number = svg("text", { class: "lwm-step", "font-size": round(r * (text.length > 2 ? 0.82 : 1.02)) }, text);
    const strength = this.far === 0 ? undefined : round(1 - 0.45 * (depth + this.far) / (2 * this.far));
    const element = svg("g", { class: `lwm-dot ${kindOf(one.statement)}`, opacity: strength, transform: `translate(${round(x)} ${round(y)})`, "data-instance": one.number }, glyph(one.statement, r), number);
    element.addEventListener("pointerenter", () => this.hover(one.number));
    element.addEventListener("pointerleave", () => this.hover(null));
    this.dots.set(one.number, element);
    return element;
  }

  /** Those inside the panel; the picture draws those from one panel to another. */
  private arrows(seen: Seen): [Arrow, boolean][] {
    return chosenArrows(this.picture, seen).filter(([arrow]) => this.place.spots.has(arrow.source) && this.place.spots.has(arrow.sink));
  }

  private arrow(arrow: Arrow, strong: boolean): SVGElement[] {
    return drawnArrow(this.place.spots.get(arrow.source)!, this.place.spots.get(arrow.sink)!, this.place.radius, kindOfArrow(arrow, strong, this.order));
  }

  /** Where an instance is in the window, and how large; null where it is not drawn. */
  inWindow(number: number): { readonly x: number; readonly y: number; readonly radius: number } | null {
    const spot = this.place.spots.get(number), scale = this.element.getScreenCTM();
    return spot && scale ? { x: scale.a * spot.x + scale.e, y: scale.d * spot.y + scale.f, radius: scale.a * this.place.radius } : null;
  }

  private rings({ witness }: Seen): SVGElement[] {
    const named = witness ? this.picture.data.witness ?? [] : [];
    return named.flatMap(number => {
      const spot = this.place.spots.get(number);
      return spot ? [svg("circle", { class: "lwm-ring", cx: round(spot.x), cy: round(spot.y), r: this.place.radius + 4 })] : [];
    });
  }
}

/** The arrows of what is hovered, of what is wrong, of the example, or all; each strong or weak. */
export function chosenArrows(picture: Picture, { step, hovered, arrows, witness, example }: Seen): [Arrow, boolean][] {
  const named = witness ? picture.data.witness : null;
  const sink = hovered === null && step === null && !arrows ? example?.number : undefined;
  return picture.arrows.flatMap((arrow): [Arrow, boolean][] => {
    const near = arrow.source === hovered || arrow.sink === hovered || arrow.sink === sink;
    const wrong = named !== null && arrow.source === named[0] && arrow.sink === named[1] && arrow.broken;
    if (near || wrong) return [[arrow, true]];
    return arrows && hovered === null ? [[arrow, picture.arrows.length <= FADED]] : [];
  });
}

export function kindOfArrow(arrow: Arrow, strong: boolean, order: Order): string {
  const broken = arrow.broken && order === "after", free = arrow.free !== "" && order === "after";
  return `lwm-arrow ${broken ? "broken" : free ? "free" : "kept"}${strong ? "" : " weak"}`;
}

interface Point { readonly x: number; readonly y: number }

/** A bent line from the edge of one dot to that of another, with a head. */
export function drawnArrow(from: Point, to: Point, radius: number, kind: string): SVGElement[] {
  const length = Math.hypot(to.x - from.x, to.y - from.y);
  if (length < 1) return [];
  const [ux, uy] = [(to.x - from.x) / length, (to.y - from.y) / length];
  const bend = length > 70 ? Math.min(0.16 * length, 40) : 5, shrink = radius + 1.5;
  const a = { x: from.x + ux * shrink - uy * 2, y: from.y + uy * shrink + ux * 2 };
  const b = { x: to.x - ux * shrink - uy * 2, y: to.y - uy * shrink + ux * 2 };
  const middle = { x: (a.x + b.x) / 2 - uy * bend, y: (a.y + b.y) / 2 + ux * bend };
  const angle = Math.atan2(b.y - middle.y, b.x - middle.x);
  const tip = (turn: number) => `${round(b.x - 7 * Math.cos(angle + turn))},${round(b.y - 7 * Math.sin(angle + turn))}`;
  return [
    svg("path", { class: kind, d: `M${round(a.x)},${round(a.y)}Q${round(middle.x)},${round(middle.y)} ${round(b.x)},${round(b.y)}` }),
    svg("polygon", { class: `${kind} head`, points: `${round(b.x)},${round(b.y)} ${tip(0.42)} ${tip(-0.42)}` }),
  ];
}

/** Whether the spots lie on one line that is neither a row nor a column. */
function isSlanting(spots: readonly Spot[]): boolean {
  const [first, last] = [spots[0]!, spots[spots.length - 1]!];
  const [dx, dy] = [last.x - first.x, last.y - first.y];
  return Math.abs(dx) > 1 && Math.abs(dy) > 1 && spots.every(({ x, y }) => Math.abs((x - first.x) * dy - (y - first.y) * dx) < 1e-6 * (dx * dx + dy * dy) + 1);
}

const round = (value: number): number => Math.round(value * 10) / 10;

export const kindOf = (statement: number): string => `kind${statement % 6}`;

/** Six shapes, so that statements can be told apart without colours. */
export function glyph(statement: number, r: number): SVGElement {
  const polygon = (points: readonly (readonly [number, number])[]): SVGElement =>
    svg("polygon", { class: "lwm-glyph", points: points.map(([x, y]) => `${round(x * r)},${round(y * r)}`).join(" ") });
  switch ((statement + Math.floor(statement / 6)) % 6) {
    case 0: return svg("circle", { class: "lwm-glyph", r });
    case 1: return svg("rect", { class: "lwm-glyph", x: -0.92 * r, y: -0.92 * r, width: 1.84 * r, height: 1.84 * r, rx: 2 });
    case 2: return polygon([[0, -1.2], [1.2, 0], [0, 1.2], [-1.2, 0]]);
    case 3: return polygon([[0, -1.15], [1.15, 0.85], [-1.15, 0.85]]);
    case 4: return polygon([[-0.55, -1.02], [0.55, -1.02], [1.1, 0], [0.55, 1.02], [-0.55, 1.02], [-1.1, 0]]);
    default: return polygon([[0, 1.15], [1.15, -0.85], [-1.15, -0.85]]);
  }
}
