// What the page holds for its script (schema deem.page/1). All names are made visible already; they
// are still only ever set as text.

export interface Axis {
  label: string;
  unit: 'share' | 'seconds' | 'count';
  log: boolean;
  low: number;
  high: number;
  last: string;
}

/** x, y, low, high, n, note; the tail may be absent. */
export type Point = [number, number, (number | null)?, (number | null)?, (number | null)?, string?];

export interface Series {
  column: number;
  draw: 'line' | 'steps' | 'points' | 'both';
  shown: boolean;
  hollow: boolean;
  points: Point[];
}

export interface PlotData {
  id: string;
  kind: string;
  task: string;
  x: Axis;
  y: Axis;
  diagonal: boolean;
  counts: boolean;
  references: [string, number][];
  series: Series[];
}

export interface Column {
  name: string;
  style: number;
  arm: number;
  reading: number;
}

export interface PageData {
  schema: string;
  tasks: string[];
  arms: string[];
  readings: string[];
  columns: Column[];
  plots: PlotData[];
}

/** A value on an axis: ".4", "20 ms", "3". */
export function axisValue(axis: Axis, value: number): string {
  if (axis.unit === 'count') return axis.last && value >= Math.floor(axis.high) ? axis.last : value.toFixed(0);
  if (axis.unit === 'share') return Number(value.toPrecision(3)).toString().replace(/^0\./, '.');
  const short = (v: number) => Number(v.toPrecision(3)).toString();
  if (value < 0.000999) return `${short(value * 1e6)} µs`;
  if (value < 0.999) return `${short(value * 1e3)} ms`;
  return `${short(value)} s`;
}

export function axisTicks(axis: Axis, low: number, high: number): number[] {
  if (axis.log) {
    const collect = (steps: number[]) => {
      const out: number[] = [];
      for (let power = -7; power < 6; ++power) out.push(...steps.map((step) => step * 10 ** power));
      return out.filter((tick) => tick >= low * 0.999 && tick <= high * 1.001);
    };
    let few = collect([1, 2, 5]);
    if (few.length < 3) few = collect([1, 1.5, 2, 3, 5, 7]);
    while (few.length > 7) few = few.filter((_, i) => i % 2 === 0);
    return few;
  }
  const ticks: number[] = [];
  const span = high - low;
  const step =
    axis.unit === 'count'
      ? Math.max(1, Math.floor((span + 9) / 10))
      : span > 0.5 ? 0.2 : span > 0.2 ? 0.1 : span > 0.1 ? 0.05 : 0.02;
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9; ++i) ticks.push(i * step);
  return ticks;
}
