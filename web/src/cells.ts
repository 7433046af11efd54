// The memory that instances touch: a grid for each array, on which reads and writes light up.
import type { Cell, Coordinates, Instance, Picture } from "./data";
import { html, svg } from "./dom";

const SIDE = 13;
const MOST = 600;
/** Cells of one array that are drawn. */

interface Grid { readonly name: string; readonly cells: ReadonlyMap<string, SVGRectElement>; readonly element: HTMLElement }

export class Memory {
  readonly element = html("div", { class: "lwm-memory" });
  private readonly grids: readonly (Grid | undefined)[];
  private lit: SVGRectElement[] = [];

  constructor(picture: Picture) {
    const touched = picture.data.arrays.map(() => [] as Coordinates[]);
    for (const one of picture.instances)
      for (const [array, at] of [...one.reads, ...one.writes]) touched[array]!.push(at);
    this.grids = picture.data.arrays.map((name, k) => (touched[k]!.length ? grid(name, touched[k]!) : undefined));
    for (const one of this.grids) if (one) this.element.append(one.element);
  }

  /** Light the cells of these instances; those of `trail` ran just before, the last of them last. */
  show(now: readonly Instance[], trail: readonly Instance[]): void {
    for (const cell of this.lit) { cell.removeAttribute("class"); cell.style.opacity = ""; }
    this.lit = [];
    trail.forEach((one, k) => {
      for (const cell of [...one.reads, ...one.writes]) this.light(cell, "was", (k + 1) / (trail.length + 1));
    });
    for (const one of now) for (const cell of one.reads) this.light(cell, "read", 1);
    for (const one of now) for (const cell of one.writes) this.light(cell, "written", 1);
  }

  private light([array, at]: Cell, kind: string, strength: number): void {
    const cell = this.grids[array]?.cells.get(at.join());
    if (!cell) return;
    cell.setAttribute("class", kind);
    cell.style.opacity = String(strength);
    this.lit.push(cell);
  }
}

function grid(name: string, touched: readonly Coordinates[]): Grid {
  const rank = touched[0]!.length;
  const used = Array.from({ length: rank }, (_, k) => [...new Set(touched.map(at => at[k]!))].sort((a, b) => a - b));
  const cells = new Map<string, SVGRectElement>();
  const rows = rank > 1 ? used[rank - 2]! : [0], columns = used[rank - 1] ?? [0];
  const planes = every(used.slice(0, Math.max(0, rank - 2))).map(prefix => {
    const size = { width: columns.length * SIDE, height: rows.length * SIDE + 2 };
    const plane = svg("svg", { ...size, role: "img", "aria-label": `cells of ${name}${subscripts(prefix)}` });
    rows.forEach((row, y) => columns.forEach((column, x) => {
      if (cells.size >= MOST) return;
      const at = [...prefix, row, column].slice(prefix.length ? 0 : 2 - Math.min(rank, 2));
      const cell = svg("rect", { x: x * SIDE + 1, y: y * SIDE + 1, width: SIDE - 2, height: SIDE - 2, rx: 2 }, svg("title", {}, name + subscripts(at)));
      cells.set(at.join(), cell);
      plane.append(cell);
    }));
    return plane;
  });
  return { name, cells, element: html("figure", { class: "lwm-array" }, html("figcaption", {}, name), html("div", {}, ...planes)) };
}

const subscripts = (at: Coordinates): string => at.map(value => `[${value}]`).join("");

/** All combinations of one of each. */
function every(lists: readonly (readonly number[])[]): number[][] {
  return lists.reduce<number[][]>((found, list) => found.flatMap(prefix => list.map(value => [...prefix, value])), [[]]);
}
