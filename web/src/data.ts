// What the server, or a report, says of a picture: the values of loopwright.show.moving, as JSON has them.

export type Coordinates = readonly number[];
export type Cell = readonly [array: number, at: Coordinates];

type InstanceRow = readonly [
  statement: number, at: Coordinates, where: Coordinates, before: number, after: number, tile: number,
  reads: readonly Cell[], writes: readonly Cell[], text: string,
];
type ArrowRow = readonly [source: number, sink: number, kind: string, array: number, broken: boolean, free: string];

export interface Statement { readonly name: string; readonly label: string; readonly text: string; readonly line: number; readonly panel: number }
export interface Panel { readonly axes: readonly string[]; readonly outside: readonly (readonly [number, number])[]; readonly seen: readonly number[]; readonly beside: number | null }
export interface Size { readonly name: string; readonly value: number; readonly least: number; readonly most: number }

export interface PictureData {
  readonly statements: readonly Statement[];
  readonly panels: readonly Panel[];
  readonly arrays: readonly string[];
  readonly instances: readonly InstanceRow[];
  readonly arrows: readonly ArrowRow[];
  readonly sizes: readonly Size[];
  readonly tile: string;
  readonly tiles_in_order: boolean;
  readonly witness: readonly [number, number] | null;
  readonly notes: readonly string[];
  readonly captions: readonly { readonly title: string; readonly text: string }[];
}

export interface Instance {
  readonly number: number; readonly statement: number; readonly panel: number;
  readonly at: Coordinates; readonly where: Coordinates;
  readonly before: number; readonly after: number; readonly tile: number;
  readonly reads: readonly Cell[]; readonly writes: readonly Cell[];
  readonly text: string; readonly name: string;
}
export interface Arrow { readonly source: number; readonly sink: number; readonly kind: string; readonly array: string; readonly broken: boolean; readonly free: string }

export type Order = "before" | "after";

export interface Picture {
  readonly data: PictureData;
  readonly instances: readonly Instance[];
  readonly arrows: readonly Arrow[];
  readonly steps: Readonly<Record<Order, number>>;
  /** Whether the script changes the order, or runs several at once. */
  readonly changed: boolean;
  /** Whether anything is known of the memory: of a description only the order is. */
  readonly touches: boolean;
}

export function decoded(data: PictureData): Picture {
  const instances = data.instances.map((row, number): Instance => {
    const [statement, at, where, before, after, tile, reads, writes, text] = row;
    const own = data.statements[statement]!;
    const short = /\((.*)\)$/.exec(own.label)?.[1] ?? own.name;
    return { number, statement, panel: own.panel, at, where, before, after, tile, reads, writes, text, name: `${short}(${at.join(", ")})` };
  });
  const arrows = data.arrows.map(([source, sink, kind, array, broken, free]) => ({ source, sink, kind, array: data.arrays[array]!, broken, free }));
  const last = (order: Order) => 1 + Math.max(-1, ...instances.map(one => one[order]));
  return {
    data, instances, arrows, steps: { before: last("before"), after: last("after") },
    touches: data.arrays.length > 0,
    changed: data.tile !== "" || instances.some(one => one.before !== one.after),
  };
}

/** An instance that shows what waiting is: one that waits for many, in other tiles too, from the middle of what is drawn; none
 * where something is wrong. */
export function exampleOf({ instances, arrows }: Picture, isDrawn: (one: Instance) => boolean): Instance | null {
  if (arrows.some(one => one.broken)) return null;
  const drawn = instances.filter(isDrawn).map(one => one.number), rank = new Map(drawn.map((number, k) => [number, k]));
  const waits = new Map<number, Set<number>>();
  for (const one of arrows)
    if (one.free === "" && rank.has(one.source) && rank.has(one.sink)) waits.set(one.sink, (waits.get(one.sink) ?? new Set()).add(one.source));
  const middle = (drawn.length - 1) / 2;
  const worth = ([number, sources]: [number, Set<number>]) => {
    const tiles = new Set([...sources].map(source => instances[source]!.tile));
    const apart = [...sources].some(source => instances[source]!.panel !== instances[number]!.panel) ? 20 : 0;
    return (sources.size > 5 ? 2 : 4 * Math.min(sources.size, 4)) + Math.min(tiles.size, 3) - 3 * Math.abs(rank.get(number)! - middle) / (middle + 1) - apart;
  };
  const best = [...waits].reduce<[number, Set<number>] | null>((found, one) => (found === null || worth(one) > worth(found) ? one : found), null);
  return best === null ? null : instances[best[0]]!;
}
