// Where the instances of a panel are drawn: loops that go down and to the right, or a box that turns.
import type { Instance, Panel } from "./data";

export interface Spot { readonly x: number; readonly y: number; readonly depth: number }
/** `chosen` where the reader turned it: then there is room for every angle. */
export interface Turn { readonly yaw: number; readonly pitch: number; readonly chosen: boolean }

/** Which axes are drawn, from the outermost inwards, and the values of the others. */
export interface Choice { readonly axes: readonly number[]; readonly still: ReadonlyMap<number, number> }

export interface Ruler { readonly x: number; readonly y: number; readonly text: string; readonly name: boolean }
export interface Line { readonly from: Spot; readonly to: Spot }

export interface Layout {
  readonly spots: ReadonlyMap<number, Spot>;
  readonly rulers: readonly Ruler[];
  readonly lines: readonly Line[];
  readonly width: number; readonly height: number;
  readonly radius: number;
}

/** Pixels from one instance to the next: large where there are few, small where many panels share the page. */
const pitchFor = (most: number, panels: number): number =>
  panels > MANY ? Math.max(15, Math.min(24, 140 / most)) : Math.max(20, Math.min(30, 320 / most));

const MANY = 3;
/** Panels that stand one below the other. */

/** An angle from which the iterations of the outermost loop lie between those of the others. */
export function turnFor(instances: readonly Instance[], choice: Choice): Turn {
  const [low, high] = range(instances.map(one => one.where[choice.axes[0] ?? 0] ?? 0));
  const angle = Math.asin(Math.max(0.15, Math.min(0.3, 1 / (high - low + 1))));
  return { yaw: -angle, pitch: angle, chosen: false };
}

/** The axes that tell most; two where so many statements share an iteration that they would cover each other. */
export function choiceOf(panel: Panel, instances: readonly Instance[]): Choice {
  const axes = slotsOf(instances, { axes: panel.seen, still: new Map() }).of.size > BESIDE ? panel.seen.slice(-2) : panel.seen;
  return { axes, still: stillOf(panel, instances, axes) };
}

export function stillOf(panel: Panel, instances: readonly Instance[], axes: readonly number[]): Map<number, number> {
  const still = new Map<number, number>();
  for (let axis = 0; axis < panel.axes.length; axis++)
    if (!axes.includes(axis)) still.set(axis, fullest(instances.map(one => one.where[axis]!)));
  return still;
}

/** The value that most have, the smallest of those. */
function fullest(values: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].reduce((best, one) => (one[1] > best[1] || (one[1] === best[1] && one[0] < best[0]) ? one : best))[0];
}

export const isShown = (one: Instance, choice: Choice): boolean =>
  [...choice.still].every(([axis, value]) => one.where[axis] === value);

const range = (values: readonly number[]): [number, number] => [Math.min(...values), Math.max(...values)];

/** `panels` is the number of panels in the picture. */
export function layout(panel: Panel, instances: readonly Instance[], choice: Choice, turn: Turn, panels = 1): Layout {
  const shown = instances.filter(one => isShown(one, choice));
  const slots = slotsOf(shown, choice);
  if (choice.axes.length < 3) return flat(panel, instances, shown, choice, slots, panels);
  return turned(panel, shown, choice, choice.axes.map(axis => range(instances.map(one => one.where[axis]!))), slots, turn);
}

const BESIDE = 3;
/** Statements that stand beside each other in a box that turns. */

interface Slots { readonly of: ReadonlyMap<number, number>; readonly side: number }

/** Statements of one iteration stand side by side: each has a place of its own in a small square. */
function slotsOf(shown: readonly Instance[], choice: Choice): Slots {
  const sharing = new Map<string, Set<number>>();
  for (const one of shown) {
    const key = choice.axes.map(axis => one.where[axis]).join();
    sharing.set(key, (sharing.get(key) ?? new Set()).add(one.statement));
  }
  const crowded = new Set<number>();
  for (const group of sharing.values()) if (group.size > 1) group.forEach(one => crowded.add(one));
  const ranks = [...crowded].sort((a, b) => a - b);
  const most = Math.max(1, ...[...sharing.values()].map(group => group.size));
  const exact = ranks.length <= Math.ceil(Math.sqrt(most)) ** 2;
  const side = Math.ceil(Math.sqrt(exact ? Math.max(most, ranks.length) : ranks.length || 1));
  return { of: new Map(ranks.map((statement, rank) => [statement, rank])), side };
}

/** At the place along an axis where statements stand that are not in its loop. */
export const OUTSIDE = "–";

function label(panel: Panel, axis: number, value: number): string {
  return panel.outside.some(([a, v]) => a === axis && v === value) ? OUTSIDE : String(value);
}

/** Places along an axis, in dots: as wide as the statements that stand side by side there, a little apart where values between
 * them do not occur. */
interface Scale { readonly values: readonly number[]; readonly place: (value: number, slot: number | null) => number; readonly length: number; readonly most: number }

/** Each instance: its value along the axis, and which of the places side by side it has; null is the middle. `between` is the room
 * between values with several places. */
function scaleOf(held: readonly (readonly [value: number, slot: number | null])[], between = 0.45): Scale {
  const slots = new Map<number, Set<number>>();
  for (const [value, slot] of held) {
    const own = slots.get(value) ?? slots.set(value, new Set()).get(value)!;
    if (slot !== null) own.add(slot);
  }
  const values = [...slots.keys()].sort((a, b) => a - b), at = new Map<number, number>();
  let next = 0, most = 0;
  values.forEach((value, k) => {
    const width = Math.max(1, slots.get(value)!.size);
    if (k > 0) next += value > values[k - 1]! + 1 ? 0.9 : Math.max(width, slots.get(values[k - 1]!)!.size) > 1 ? between : 0.25;
    at.set(value, next + width / 2);
    next += width;
    most += width;
  });
  const place = (value: number, slot: number | null): number => {
    const own = [...slots.get(value)!].sort((a, b) => a - b);
    return at.get(value)! + (slot === null || own.length < 2 ? 0 : own.indexOf(slot) - (own.length - 1) / 2);
  };
  return { values, place, length: Math.max(1, next), most };
}

function flat(
  panel: Panel, instances: readonly Instance[], shown: readonly Instance[], choice: Choice, slots: Slots, panels: number,
): Layout {
  const [row, column] = choice.axes.length === 2 ? choice.axes : [undefined, choice.axes[0]];
  const value = (one: Instance, axis: number | undefined): number => (axis === undefined ? 0 : one.where[axis]!);
  const slot = (one: Instance, part: (rank: number) => number): number | null => {
    const rank = slots.of.get(one.statement);
    return rank === undefined ? null : part(rank);
  };
  // in the order they run along the innermost loop that they share, or in a square
  const few = slots.of.size <= BESIDE + 1;
  const side = few && panel.beside !== null && panel.beside === row ? 1 : few && panel.beside === column ? slots.of.size : slots.side;
  const slotDown = (one: Instance) => slot(one, rank => Math.floor(rank / side));
  const slotAcross = (one: Instance) => slot(one, rank => rank % side);
  // rows that run one after the other are evenly apart, so that what leans is straight
  const rows = scaleOf(instances.map(one => [value(one, row), slotDown(one)]), side === 1 ? 0.15 : undefined);
  const columns = scaleOf(instances.map(one => [value(one, column), slotAcross(one)]));
  const dot = pitchFor(Math.max(rows.most, columns.most), panels);
  const down = row === undefined ? "" : `${panel.axes[row]} ↓`;
  const extra = Math.max(0, 6.2 * (down.length - 3)), left = 46 + extra, top = 44;
  const spots = new Map<number, Spot>();
  for (const one of shown) {
    const x = left + dot * (columns.place(value(one, column), slotAcross(one)) + 0.15);
    const y = top + dot * (rows.place(value(one, row), slotDown(one)) + 0.15);
    spots.set(one.number, { x, y, depth: 0 });
  }
  const rulers: Ruler[] = [];
  const width = left + dot * (columns.length + 0.3) + 10, height = top + dot * (rows.length + 0.3) + 10;
  if (column !== undefined) {
    for (const one of columns.values)
      rulers.push({ x: left + dot * (columns.place(one, null) + 0.15), y: 32, text: label(panel, column, one), name: false });
    rulers.push({ x: left + (width - left - 10) / 2, y: 13, text: `${panel.axes[column]} →`, name: true });
  }
  if (row !== undefined) {
    for (const one of rows.values)
      rulers.push({ x: 34 + extra, y: top + dot * (rows.place(one, null) + 0.15), text: label(panel, row, one), name: false });
    rulers.push({ x: 11 + extra / 2, y: top + (height - top - 10) / 2, text: down, name: true });
  }
  return { spots, rulers, lines: [], width, height, radius: dot * 0.4 };
}

function turned(
  panel: Panel, shown: readonly Instance[], choice: Choice, spans: readonly [number, number][], slots: Slots, turn: Turn,
): Layout {
  const longest = Math.max(...spans.map(([low, high]) => high - low + 1));
  const unit = Math.max(46, Math.min(slots.side > 1 ? 72 : 64, 330 / longest));
  const middle = spans.map(([low, high]) => (low + high) / 2);
  const sizes = spans.map(([low, high]) => high - low);
  const project = (point: readonly number[]): Spot => {
    // the outermost axis goes into the depth, the next one down, the innermost to the right
    const [z, y, x] = point.map((value, k) => (value - middle[k]!) * unit) as [number, number, number];
    const x1 = x * Math.cos(turn.yaw) - z * Math.sin(turn.yaw), z1 = x * Math.sin(turn.yaw) + z * Math.cos(turn.yaw);
    return { x: x1, y: y * Math.cos(turn.pitch) - z1 * Math.sin(turn.pitch), depth: y * Math.sin(turn.pitch) + z1 * Math.cos(turn.pitch) };
  };
  const reach = Math.hypot(...sizes.map(size => size + 1.5)) * unit / 2;
  const flatter = Math.min(reach, ((sizes[1]! + 1.6) * Math.cos(turn.pitch) + Math.hypot(sizes[0]! + 1, sizes[2]! + 1) * Math.abs(Math.sin(turn.pitch))) * unit / 2 + 14);
  const moved = (spot: Spot): Spot => ({ x: spot.x + reach, y: spot.y + flatter, depth: spot.depth });
  const spots = new Map<number, Spot>();
  const count = slots.of.size, shared = choice.axes.indexOf(panel.beside ?? -1), along = shared < 0 ? 2 : shared;
  // into the depth they share the way to the next iteration; else they stand close together
  const apart = along === 0 ? 1 / Math.max(1, count) : Math.min(16, 34 / Math.max(1, count - 1)) / unit;
  for (const one of shown) {
    const slot = slots.of.get(one.statement), point = choice.axes.map(axis => one.where[axis]!);
    if (slot !== undefined) point[along]! += (slot - (count - 1) / 2) * apart;
    spots.set(one.number, moved(project(point)));
  }
  const rulers: Ruler[] = [], lines: Line[] = [];
  const low = spans.map(span => span[0] - 0.6);
  choice.axes.forEach((axis, k) => {
    // the innermost axis is below the box: above it are the dots that lie deeper
    const from = low.slice();
    if (k === 2) from[1] = spans[1]![1] + 0.6;
    const end = from.slice(); end[k] = spans[k]![1] + 0.6;
    lines.push({ from: moved(project(from)), to: moved(project(end)) });
    const tip = end.slice(); tip[k]! += k === 1 ? 0.95 : 0.45;
    const at = moved(project(tip));
    rulers.push({ x: at.x, y: at.y, text: panel.axes[axis]!, name: true });
    const [first, last] = spans[k]!;
    for (const value of first === last ? [first] : [first, last]) {
      const spot = from.slice(); spot[k] = value;
      if (k === 2) spot[1]! += 0.35; else spot[2]! -= 0.4;
      const place = moved(project(spot));
      rulers.push({ x: place.x, y: place.y, text: label(panel, axis, value), name: false });
    }
  });
  const radius = slots.side > 1 ? 7.5 : 9;
  if (turn.chosen) return { spots, rulers, lines, width: 2 * reach, height: 2 * flatter, radius };
  const all = [...spots.values(), ...rulers, ...lines.flatMap(one => [one.from, one.to])];
  const [left, right] = range(all.map(one => one.x)), [top, bottom] = range(all.map(one => one.y));
  const back = <P extends { readonly x: number; readonly y: number }>(one: P): P => ({ ...one, x: one.x - left + 16, y: one.y - top + 16 });
  return {
    spots: new Map([...spots].map(([key, spot]) => [key, back(spot)])), rulers: rulers.map(back),
    lines: lines.map(({ from, to }) => ({ from: back(from), to: back(to) })), width: right - left + 32, height: bottom - top + 32, radius,
  };
}

/** The convex hull of the spots, so much larger on every side (Andrew's monotone chain). */
export function outline(spots: readonly Spot[], distance: number): Spot[] {
  const near = distance * 0.55;
  const around = [[distance, near], [near, distance], [-near, distance], [-distance, near], [distance, -near], [near, -distance], [-near, -distance], [-distance, -near]] as const;
  const points = spots.flatMap(spot => around.map(([dx, dy]) => ({ x: spot.x + dx, y: spot.y + dy, depth: 0 })));
  points.sort((a, b) => a.x - b.x || a.y - b.y);
  const half = (list: readonly Spot[]): Spot[] => {
    const chain: Spot[] = [];
    for (const point of list) {
      while (chain.length > 1 && cross(chain[chain.length - 2]!, chain[chain.length - 1]!, point) <= 0) chain.pop();
      chain.push(point);
    }
    return chain.slice(0, -1);
  };
  return [...half(points), ...half(points.slice().reverse())];
}

/** Whether a spot lies in an outline, whose corners go round one way. */
export const isInside = (spot: Spot, corners: readonly Spot[]): boolean =>
  corners.every((corner, k) => cross(corner, corners[(k + 1) % corners.length]!, spot) >= 0);

const cross = (a: Spot, b: Spot, c: Spot): number => (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
