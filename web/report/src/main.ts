// Makes the page live: filters, and plots that answer. Without this script the page is complete.

import 'uplot/dist/uPlot.min.css';

import './report.css';

import type { PageData, PlotData, Series } from './data';
import { LivePlot } from './live';
import { swatch } from './marks';

const page: PageData = JSON.parse(document.getElementById('data')?.textContent ?? '{}');

/** The reader's choices; -1: all. `columns`: shown or not, where said. */
const chosen = { task: -1, arm: -1, reading: -1, columns: new Map<number, boolean>() };

interface Figure {
  element: HTMLElement;
  data: PlotData;
  own: Map<number, boolean>; // columns switched in this plot alone
  legend: HTMLElement;
  live?: LivePlot;
}
const figures: Figure[] = [];

function passes(column: number): boolean {
  const { arm, reading } = page.columns[column] ?? { arm: -1, reading: -1 };
  return (chosen.arm < 0 || chosen.arm === arm) && (chosen.reading < 0 || chosen.reading === reading);
}

/** With an arm or a reading chosen all that pass are shown, else what the plot shows by itself. */
function isShown(figure: Figure, series: Series): boolean {
  if (!passes(series.column)) return false;
  const narrowed = chosen.arm >= 0 || chosen.reading >= 0;
  return figure.own.get(series.column) ?? chosen.columns.get(series.column) ?? (series.shown || narrowed);
}

function drawLegend(figure: Figure): void {
  const entries = figure.data.series.filter((s) => passes(s.column) &&
    (s.shown || isShown(figure, s) || figure.own.has(s.column)));
  figure.legend.replaceChildren(...entries.map((series) => {
    const column = page.columns[series.column]!;
    const button = document.createElement('button');
    button.type = 'button';
    button.setAttribute('aria-pressed', String(isShown(figure, series)));
    const name = document.createElement('bdi');
    name.textContent = column.name;
    button.append(swatch(column.style), name);
    button.addEventListener('click', () => {
      figure.own.set(series.column, !isShown(figure, series));
      update(figure);
    });
    return button;
  }));
}

function update(figure: Figure): void {
  if (!figure.live) return;
  drawLegend(figure);
  figure.live.draw();
}

function start(figure: Figure): void {
  const canvas = figure.element.querySelector<HTMLElement>('.canvas');
  if (figure.live || !canvas) return;
  figure.element.classList.add('is-live');
  figure.element.append(figure.legend);
  figure.live = new LivePlot(canvas, figure.data, page.columns, (series) => isShown(figure, series));
  drawLegend(figure);
}

function applyFilters(): void {
  for (const element of document.querySelectorAll<HTMLElement>('[data-task], [data-arm]')) {
    const { task, arm, reading } = element.dataset;
    const out = (choice: number, value: string | undefined) =>
      choice >= 0 && value !== undefined && Number(value) !== choice;
    element.hidden = out(chosen.task, task) || out(chosen.arm, arm) || out(chosen.reading, reading);
  }
  for (const pooled of document.querySelectorAll<HTMLElement>('.pooled')) pooled.hidden = chosen.task >= 0;
  figures.forEach(update);
}

function makeSelect(name: 'task' | 'arm' | 'reading', values: string[]): HTMLElement | undefined {
  if (values.length < 2) return undefined;
  const label = document.createElement('label');
  const select = document.createElement('select');
  select.name = name;
  select.append(new Option(`all ${name}s`, '-1'), ...values.map((value, i) => new Option(value, String(i))));
  select.addEventListener('change', () => {
    chosen[name] = Number(select.value);
    applyFilters();
  });
  label.append(name, select);
  return label;
}

function makeColumns(): HTMLElement {
  const details = document.createElement('details');
  const summary = document.createElement('summary');
  summary.textContent = `Columns in plots (${page.columns.length})`;
  const list = document.createElement('div');
  list.className = 'choices';
  const first = new Set(page.plots.flatMap((plot) => plot.series.filter((s) => s.shown).map((s) => s.column)));
  const order = page.columns.map((_, i) => i).sort((a, b) => page.columns[a]!.style - page.columns[b]!.style);
  for (const i of order) {
    const column = page.columns[i]!;
    const label = document.createElement('label');
    const box = document.createElement('input');
    box.type = 'checkbox';
    box.checked = box.defaultChecked = first.has(i);
    box.addEventListener('change', () => {
      chosen.columns.set(i, box.checked);
      for (const figure of figures) figure.own.delete(i);
      figures.forEach(update);
    });
    const name = document.createElement('bdi');
    name.textContent = column.name;
    label.append(box, swatch(column.style), name);
    list.append(label);
  }
  details.append(summary, list);
  return details;
}

function makeFilters(): void {
  const form = document.getElementById('filters') as HTMLFormElement | null;
  if (!form || page.columns.length === 0) return;
  form.setAttribute('aria-label', 'Filters');
  const reset = document.createElement('button');
  reset.type = 'reset';
  reset.textContent = 'Show all';
  form.addEventListener('reset', () => {
    Object.assign(chosen, { task: -1, arm: -1, reading: -1, columns: new Map() });
    for (const figure of figures) figure.own.clear();
    setTimeout(applyFilters);
  });
  form.addEventListener('submit', (event) => event.preventDefault());
  const selects = [makeSelect('task', page.tasks), makeSelect('arm', page.arms), makeSelect('reading', page.readings)];
  form.append(...selects.filter((s) => s !== undefined), makeColumns(), reset);
  form.hidden = false;
}

for (const data of page.plots ?? []) {
  const element = document.getElementById(data.id);
  if (!element) continue;
  const legend = document.createElement('div');
  legend.className = 'live-legend';
  figures.push({ element, data, own: new Map(), legend });
}
makeFilters();
const near = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    near.unobserve(entry.target);
    const figure = figures.find((f) => f.element === entry.target);
    if (figure) start(figure);
  }
}, { rootMargin: '400px' });
for (const figure of figures) near.observe(figure.element);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => figures.forEach(update));
