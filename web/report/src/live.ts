// One live plot: uPlot draws lines and axes, hooks draw marks, intervals and baselines.

import uPlot from 'uplot';

import { axisTicks, axisValue, type Column, type PlotData, type Point, type Series } from './data';
import { colourOf, dashOf, drawMarker } from './marks';

interface Place {
  series: Series;
  point: Point;
  left: number;
  top: number;
}

const kHeight = 290;
const kCountHeight = 15;
const kReach = 40; // px around the pointer in which a point is found

export class LivePlot {
  private plot: uPlot | undefined;
  private places: Place[] = [];
  private at = -1;
  private readonly box = document.createElement('div');
  private readonly readout = document.createElement('div');
  private readonly watcher: ResizeObserver;

  constructor(
    private readonly canvas: HTMLElement,
    private readonly data: PlotData,
    private readonly columns: Column[],
    private readonly isShown: (series: Series) => boolean,
  ) {
    this.box.className = 'live-plot';
    this.readout.className = 'readout';
    this.readout.setAttribute('role', 'status');
    this.readout.hidden = true;
    canvas.append(this.box, this.readout);
    this.watcher = new ResizeObserver(() => this.fit());
    this.watcher.observe(canvas);
    this.draw();
  }

  /** Builds the plot anew: shown columns or the colour scheme may have changed. */
  draw(): void {
    this.plot?.destroy();
    this.plot = undefined;
    this.hide();
    const shown = this.data.series.filter(this.isShown);
    this.box.classList.toggle('empty', shown.length === 0);
    this.box.textContent = shown.length === 0 ? 'No column is chosen here.' : '';
    if (shown.length === 0) return;
    const tables = shown.map((series) => [series.points.map((p) => p[0]), series.points.map((p) => p[1])]);
    const joined = uPlot.join(tables as unknown as uPlot.AlignedData[]);
    this.plot = new uPlot(this.options(shown), joined, this.box);
    const over = this.plot.over;
    over.tabIndex = 0;
    over.setAttribute('role', 'application');
    over.setAttribute('aria-label', `${this.data.kind}, ${this.data.task}: arrow keys go from point to point`);
    over.addEventListener('keydown', (event) => this.step(event));
    over.addEventListener('mouseleave', () => this.hide());
    over.addEventListener('blur', () => this.hide());
  }

  private fit(): void {
    const width = this.canvas.clientWidth;
    if (this.plot && width > 0 && width !== this.plot.width) this.plot.setSize({ width, height: this.plot.height });
  }

  private range(shown: Series[], axis: 'x' | 'y'): [number, number] {
    const given = this.data[axis];
    let { low, high } = given;
    const values = shown.flatMap((s) => s.points.flatMap((p) => (axis === 'x' ? [p[0]] : [p[1], p[2] ?? p[1]])));
    if (given.unit === 'seconds') {
      const positive = values.filter((v) => v > 0);
      low = Math.min(low, ...positive.map((v) => v / 1.3));
      high = Math.max(high, ...positive.map((v) => v * 1.3));
    } else if (axis === 'y') {
      low = Math.min(low, Math.floor(Math.min(...values) * 10) / 10);
      high = Math.max(high, ...values);
    }
    return [low, high];
  }

  private options(shown: Series[]): uPlot.Options {
    const css = getComputedStyle(document.documentElement);
    const colour = (name: string) => css.getPropertyValue(name).trim();
    const font = '12px system-ui, sans-serif';
    const axis = (which: 'x' | 'y'): uPlot.Axis => ({
      label: this.data[which].label,
      labelFont: font,
      labelSize: which === 'x' ? 22 : 20,
      labelGap: 2,
      font,
      size: which === 'x' ? 26 : 38,
      gap: 4,
      stroke: colour('--dim'),
      grid: { stroke: colour('--rule'), width: 1 },
      ticks: { show: false },
      splits: (_u, _i, low, high) => axisTicks(this.data[which], low, high),
      filter: (_u, splits) => splits,
      values: (u, splits) => {
        let free = -Infinity; // from here on there is room for a number
        return splits.map((value) => {
          const text = axisValue(this.data[which], value);
          if (which === 'y') return text;
          const at = u.valToPos(value, 'x');
          const half = 3.6 * text.length;
          if (at - half < free) return '';
          free = at + half + 3;
          return text;
        });
      },
    });
    const scale = (which: 'x' | 'y'): uPlot.Scale => ({
      time: false,
      distr: this.data[which].log ? 3 : 1,
      log: 10,
      range: () => this.range(shown, which),
    });
    const counts = this.data.counts ? kCountHeight * shown.length : 0;
    return {
      width: Math.max(200, this.canvas.clientWidth),
      height: kHeight + counts,
      padding: [10, 22, counts, 0],
      legend: { show: false },
      cursor: { points: { show: false }, drag: { x: false, y: false }, y: false },
      scales: { x: scale('x'), y: scale('y') },
      axes: [axis('x'), axis('y')],
      series: [
        {},
        ...shown.map((series): uPlot.Series => {
          const style = this.columns[series.column]?.style ?? 0;
          return {
            stroke: colourOf(style) + (series.draw === 'both' ? '66' : ''),
            width: series.draw === 'both' ? 1.3 : 2,
            dash: dashOf(style),
            points: { show: false },
            ...(series.draw === 'points' ? { paths: () => null } : {}),
            ...(series.draw === 'steps' ? { paths: uPlot.paths.stepped!({ align: 1 }) } : {}),
          };
        }),
      ],
      hooks: {
        drawAxes: [(u) => this.drawReferences(u, colour('--ink'), colour('--dim'))],
        draw: [(u) => this.drawMarks(u, shown, colour('--card')), (u) => this.drawCounts(u, shown, colour('--dim'))],
        setCursor: [(u) => this.point(u)],
      },
    };
  }

  private drawReferences(u: uPlot, ink: string, dim: string): void {
    const { ctx, bbox } = u;
    const ratio = devicePixelRatio;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.lineWidth = ratio;
    if (this.data.diagonal) {
      ctx.strokeStyle = dim;
      ctx.beginPath();
      ctx.moveTo(u.valToPos(0, 'x', true), u.valToPos(0, 'y', true));
      ctx.lineTo(u.valToPos(1, 'x', true), u.valToPos(1, 'y', true));
      ctx.stroke();
    }
    ctx.font = `${11 * ratio}px system-ui, sans-serif`;
    ctx.textAlign = 'right';
    for (const [name, value] of this.data.references) {
      const y = u.valToPos(value, 'y', true);
      ctx.strokeStyle = ink;
      ctx.setLineDash([4 * ratio, 4 * ratio]);
      ctx.beginPath();
      ctx.moveTo(bbox.left, y);
      ctx.lineTo(bbox.left + bbox.width, y);
      ctx.stroke();
      ctx.fillStyle = dim;
      ctx.fillText(name, bbox.left + bbox.width - 4 * ratio, y - 4 * ratio);
    }
    ctx.restore();
  }

  private drawMarks(u: uPlot, shown: Series[], ground: string): void {
    const { ctx } = u;
    const ratio = devicePixelRatio;
    this.places = [];
    ctx.save();
    ctx.lineWidth = 1.3 * ratio;
    // The best is drawn last, on top.
    for (const series of [...shown].reverse()) {
      const style = this.columns[series.column]?.style ?? 0;
      const most = Math.max(1, ...series.points.map((p) => p[4] ?? 1));
      for (const point of series.points) {
        const [x, y, low, high, n] = point;
        const left = u.valToPos(x, 'x', true);
        const top = u.valToPos(y, 'y', true);
        this.places.push({ series, point, left: left / ratio, top: top / ratio });
        if ((series.draw === 'line' || series.draw === 'steps') && series.points.length > 1) continue;
        if (low != null && high != null) {
          ctx.strokeStyle = `${colourOf(style)}99`;
          ctx.beginPath();
          ctx.moveTo(left, u.valToPos(low, 'y', true));
          ctx.lineTo(left, u.valToPos(high, 'y', true));
          ctx.stroke();
        }
        const radius = (2.8 + 3 * Math.sqrt((n ?? most) / most)) * ratio;
        drawMarker(ctx, left, top, radius, style, series.hollow, ground);
      }
    }
    ctx.restore();
    this.places.sort((a, b) => a.left - b.left || a.top - b.top);
  }

  /** How many answers each mark stands for, a row for each column. */
  private drawCounts(u: uPlot, shown: Series[], colour: string): void {
    if (!this.data.counts) return;
    const { ctx } = u;
    const ratio = devicePixelRatio;
    ctx.save();
    ctx.font = `${10.5 * ratio}px system-ui, sans-serif`;
    ctx.textAlign = 'center';
    ctx.lineWidth = ratio;
    shown.forEach((series, row) => {
      const style = this.columns[series.column]?.style ?? 0;
      const y = (u.height - kCountHeight * (shown.length - row) + 11) * ratio;
      drawMarker(ctx, 18 * ratio, y - 4 * ratio, 4 * ratio, style, false, 'transparent');
      ctx.fillStyle = colour;
      if (row === 0) ctx.fillText('n', 4 * ratio, y);
      for (const point of series.points) ctx.fillText(String(point[4] ?? 0), u.valToPos(point[0], 'x', true), y);
    });
    ctx.restore();
  }

  /** Shows what lies nearest to the pointer. */
  private point(u: uPlot): void {
    const { left, top } = u.cursor;
    if (left == null || top == null || left < 0) return;
    const x = left + u.bbox.left / devicePixelRatio;
    const y = top + u.bbox.top / devicePixelRatio;
    let best = -1;
    let least = kReach;
    this.places.forEach((place, i) => {
      const distance = Math.hypot(place.left - x, place.top - y);
      if (distance < least) {
        least = distance;
        best = i;
      }
    });
    if (best < 0) this.hide();
    else this.show(best);
  }

  private step(event: KeyboardEvent): void {
    const by = { ArrowRight: 1, ArrowLeft: -1, ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (event.key === 'Escape') this.hide();
    if (by === undefined || this.places.length === 0) return;
    event.preventDefault();
    this.show((this.at + by + this.places.length) % this.places.length);
  }

  private show(index: number): void {
    const place = this.places[index];
    if (!place) return;
    this.at = index;
    const [x, y, low, high, n, note] = place.point;
    const name = document.createElement('b');
    name.textContent = this.columns[place.series.column]?.name ?? '';
    const lines = [`${this.data.y.label} ${axisValue(this.data.y, y)}` +
      (low != null && high != null ? ` [${axisValue(this.data.y, low)}, ${axisValue(this.data.y, high)}]` : '')];
    lines.push(`${this.data.x.label.replace(' (log)', '')} ${axisValue(this.data.x, x)}`);
    if (n != null) lines.push(`n ${n}`);
    if (note) lines.push(note);
    this.readout.replaceChildren(name, ...lines.flatMap((line) => [document.createElement('br'), line]));
    this.readout.hidden = false;
    const width = this.canvas.clientWidth;
    const over = place.left > width / 2;
    this.readout.style.left = over ? 'auto' : `${place.left + 12}px`;
    this.readout.style.right = over ? `${width - place.left + 12}px` : 'auto';
    this.readout.style.maxWidth = `${Math.max(120, (over ? place.left : width - place.left) - 16)}px`;
    this.readout.style.top = `${Math.max(0, place.top - 20)}px`;
  }

  private hide(): void {
    this.readout.hidden = true;
    this.at = -1;
  }
}
