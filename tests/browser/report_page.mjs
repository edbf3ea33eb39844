// Run by tests/browser/run beside the pages: CHROMIUM names the browser.
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { chromium } from 'playwright-core';

const folder = dirname(fileURLToPath(import.meta.url));
const urlOf = (name) => `file://${join(folder, name)}`;
const kPlots = ['frontier', 'reliability', 'risk', 'latency', 'position'];
let browser;

before(async () => {
  browser = await chromium.launch({  // with an empty profile of its own
    executablePath: process.env.CHROMIUM,
    headless: true,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage'],
  });
});
after(() => browser?.close());

/** Opens a page; nothing may be fetched, logged as an error (but `mayLog`) or run by a stranger. */
async function look(name, act, options = {}) {
  const context = await browser.newContext({
    viewport: { width: options.width ?? 1280, height: 900 },
    colorScheme: options.scheme ?? 'light',
    javaScriptEnabled: options.scripts ?? true,
  });
  const page = await context.newPage();
  const asked = [];
  const wrong = [];
  page.on('request', (request) => asked.push(request.url()));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type()) && !options.mayLog?.test(message.text())) wrong.push(message.text());
  });
  page.on('pageerror', (error) => wrong.push(error.message));
  page.on('dialog', (dialog) => wrong.push(`dialog ${dialog.message()}`));
  try {
    await page.goto(urlOf(name));
    await act(page);
    assert.deepEqual(asked, [urlOf(name)], 'nothing but the file itself is fetched');
    assert.deepEqual(wrong, []);
    assert.equal(await page.evaluate(() => window.hit), undefined);
  } finally {
    await context.close();
  }
}

async function scrollThrough(page) {
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  for (let y = 0; y < height; y += 700) {
    await page.evaluate((top) => scrollTo(0, top), y);
    await page.waitForTimeout(30);
  }
}

const isWider = () => document.documentElement.scrollWidth > document.documentElement.clientWidth;

test('every plot becomes live and shows a legend', () => look('wide.html', async (page) => {
  await scrollThrough(page);
  assert.equal(await page.locator('.plot').count(), 15);
  await page.waitForFunction(() => document.querySelectorAll('.plot.is-live canvas').length === 15);
  assert.ok(await page.locator('#risk-0 .live-legend button').count() >= 4);
  assert.equal(await page.locator('#risk-0 .plot-svg').isVisible(), false);
}));

test('filters hide what they leave out', () => look('wide.html', async (page) => {
  await page.locator('select[name=task]').selectOption({ label: 'second' });
  assert.equal(await page.locator('.card:visible').count(), 1);
  assert.equal(await page.locator('#frontier .plot:visible').count(), 1);
  await page.locator('select[name=arm]').selectOption({ index: 3 });
  const shown = await page.locator('#figures tbody tr:visible').allInnerTexts();
  assert.equal(shown.length, 4, 'one column and three baselines');
  await page.getByRole('button', { name: 'Show all' }).click();
  await page.waitForFunction(() => document.querySelectorAll('.card[hidden]').length === 0);
  assert.equal(await page.locator('.card:visible').count(), 3);
}));

test('columns are switched for all plots and for one', () => look('wide.html', async (page) => {
  await page.locator('#risk-0').scrollIntoViewIfNeeded();
  const legend = page.locator('#risk-0 .live-legend button');
  await legend.first().waitFor();
  const before = await legend.count();
  await page.locator('#filters summary').click();
  const box = page.locator('.choices input:not(:checked)').first();
  await box.check();
  await page.waitForFunction((n) => document.querySelectorAll('#risk-0 .live-legend button').length === n + 1, before);
  await page.locator('#filters summary').click();
  await legend.first().click();
  assert.equal(await legend.first().getAttribute('aria-pressed'), 'false');
}));

test('a point is read by mouse and by keyboard', () => look('wide.html', async (page) => {
  const plot = page.locator('#frontier-0');
  await plot.scrollIntoViewIfNeeded();
  const over = plot.locator('.u-over');
  await over.waitFor();
  await over.focus();
  await page.keyboard.press('ArrowRight');
  const readout = plot.locator('.readout');
  await readout.waitFor();
  const first = await readout.innerText();
  assert.match(first, /arm-\d+.*\n.*accuracy .*\[.*\]/);
  await page.keyboard.press('ArrowRight');
  assert.notEqual(await readout.innerText(), first);
  await page.keyboard.press('Escape');
  assert.equal(await readout.isVisible(), false);
}));

for (const name of ['hostile.html', 'wide.html', 'energy.html', 'empty.html']) {
  test(`${name} fits a phone of 360 px`, () => look(name, async (page) => {
    await scrollThrough(page);
    assert.equal(await page.evaluate(isWider), false);
    for (const details of await page.locator('details:visible').all()) {
      await details.evaluate((element) => { element.open = true; });
    }
    assert.equal(await page.evaluate(isWider), false, 'with everything open');
  }, { width: 360 }));
}

test('hostile text stays text', () => look('hostile.html', async (page) => {
  await scrollThrough(page);
  await page.evaluate(() => document.querySelectorAll('details').forEach((d) => { d.open = true; }));
  assert.equal(await page.locator('img').count(), 0);
  assert.equal(await page.locator('script').count(), 2);
  assert.equal(await page.locator('a[href^="javascript"]').count(), 0);
  const text = await page.evaluate(() => document.body.innerText);
  assert.ok(text.includes('<script>window.hit=1</script>'), 'it is shown as it is');
  assert.ok(text.includes('PROMPT </script>'));
  assert.ok(!text.includes('\u202e'), 'and can not turn the text around it');
  assert.ok(text.includes('[U+202E]'));
}));

test('the policy holds by itself', () => look('hostile.html', async (page) => {
  await page.evaluate(() => {
    const script = document.createElement('script');
    script.textContent = 'window.hit = 1';
    document.body.append(script);
    document.body.insertAdjacentHTML('beforeend', '<img src="data:," onerror="window.hit = 1">');
  });
  await page.waitForTimeout(100);
}, { mayLog: /Content Security Policy/ }));

test('without scripts every plot is there', () => look('wide.html', async (page) => {
  assert.equal(await page.locator('.plot-svg').count(), 15);
  for (const id of kPlots) assert.ok(await page.locator(`#${id}-0 .plot-svg`).isVisible(), id);
  assert.equal(await page.locator('#filters').isVisible(), false);
}, { scripts: false }));

test('the power trace stays still, is named, and is read on a phone by pushing it', async () => {
  const trace = '#power-0 .trace-svg';
  await look('energy.html', async (page) => {
    await scrollThrough(page);
    assert.ok(await page.locator(trace).isVisible());
    assert.match(await page.locator(trace).getAttribute('aria-label'), /Power of runs\/x.*300\.0 W at most; 1 block/);
    assert.equal(await page.locator('#power-0 canvas').count(), 0);
    assert.equal(await page.locator(`${trace} path.line`).count(), 3, 'two boards and their sum');
    const title = await page.locator(`${trace} .window.block title`).textContent();
    assert.equal(title, 'a · t, 8.0 to 20.0 s');
    const box = await page.locator(`${trace} .window.block`).boundingBox();
    const whole = await page.locator(trace).boundingBox();
    assert.ok(Math.abs(box.width / whole.width - (680 * 12 / 28) / 744) < 0.01, 'a block is as long as it was');
  });
  await look('energy.html', async (page) => {
    await page.locator('#power-0').scrollIntoViewIfNeeded();
    const region = page.locator('#power-0 .trace-scroll');
    assert.equal(await region.getAttribute('tabindex'), '0');
    assert.ok(await region.evaluate((e) => e.scrollWidth > e.clientWidth), 'it has the room it needs');
    assert.ok((await page.locator('#power-0').innerText()).includes('GPU-a'));
  }, { width: 360 });
  await look('energy.html', async (page) => assert.ok(await page.locator(trace).isVisible()), { scripts: false });
});

test('it is dark where the reader wants it dark', async () => {
  const ground = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const seen = {};
  for (const scheme of ['light', 'dark']) {
    await look('wide.html', async (page) => { seen[scheme] = await ground(page); }, { scheme });
  }
  const light = (rgb) => rgb.match(/\d+/g).slice(0, 3).reduce((sum, v) => sum + Number(v), 0);
  assert.ok(light(seen.light) > 600, seen.light);
  assert.ok(light(seen.dark) < 150, seen.dark);
});

test('it prints with its still plots', () => look('wide.html', async (page) => {
  await scrollThrough(page);
  await page.emulateMedia({ media: 'print' });
  assert.ok(await page.locator('#risk-0 .plot-svg').isVisible());
  assert.equal(await page.locator('#filters').isVisible(), false);
  const pdf = await page.pdf({ format: 'A4' });
  assert.equal(pdf.subarray(0, 5).toString(), '%PDF-');
  assert.ok(pdf.length > 50_000);
}));

test('headings make an outline', () => look('wide.html', async (page) => {
  const levels = await page.evaluate(() => [...document.querySelectorAll('h1, h2, h3, h4')].map((h) => Number(h.tagName[1])));
  assert.equal(levels.filter((level) => level === 1).length, 1);
  levels.reduce((before, level) => {
    assert.ok(level <= before + 1, 'no level is skipped');
    return level;
  });
}));
