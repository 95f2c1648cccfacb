import type { Page } from 'playwright-core';
import { roleNode, skillNode, toolNode } from '../../../services/backend/graph/contract/sample-nodes.contract.ts';
import { readPage } from '../../../services/frontend/page.ts';
import { firstLoadBytes } from '../../../services/frontend/test/first-load.ts';
import { SignedInBrowser } from '../../../services/frontend/test/signed-in-browser.ts';
import { hasChromium } from '../browser.ts';
import { processesOf } from '../running-processes.ts';
import { startPlatform } from './bench-platform.ts';
import { atLeast, atMost, type Figure, medianMs, reported, skipped } from './figure.ts';
import { fillGraph, recordOf } from './fill-graph.ts';

const rounds = 5;
const firstLoadMaxKb = 170;
const usableMaxMs = 1200;
const paletteMaxMs = 50;
const statusMaxMs = 300;
const openMaxMs = 1000;
/** A longer task delays a frame so that a person sees it. */
const taskMaxMs = 50;
const smoothRunsMin = 4;

const skillCount = 5000;
const toolCount = 4900;
const roleCount = 100;

/** How soon the pages answer a person, in a workspace with 10,000 things. */
export async function measurePages(): Promise<Figure[]> {
  const figures = [await measureFirstLoad()];
  if (!hasChromium) return [...figures, skipped('pages in a browser', 'Chromium is not installed')];
  const { platform } = await startPlatform();
  await fillGraph(platform, async function* nodes({ workspace, mcpServer }) {
    for (let i = 0; i < skillCount; i++) {
      yield recordOf('skill', skillNode(workspace, { name: `measured-${i}`, description: 'Skill that is measured' }));
    }
    for (let i = 0; i < toolCount; i++) {
      yield recordOf('tool', toolNode(workspace, { originalName: `measured_tool_${i}`, mcpServer }));
    }
    for (let i = 0; i < roleCount; i++) yield recordOf('role', roleNode(workspace, { name: `Measured role ${i}` }));
  });
  await using browser = await SignedInBrowser.open(platform);
  figures.push(await measureUsable(browser));
  figures.push(...(await measurePalette(browser)));
  figures.push(await measureStatus(browser));
  figures.push(...(await measureSkills(browser)));
  return figures;
}

/** The largest of all places. */
async function measureFirstLoad(): Promise<Figure> {
  const { assets } = await readPage({ backendUrl: null, mcpUrl: 'http://localhost/mcp', keysUrl: null });
  const places = [...assets.keys()].flatMap((path) => /^\/assets\/([\w-]+-page)-[\w-]{8}\.js$/.exec(path)?.[1] ?? []);
  const sizes = await Promise.all(places.map(async (place) => ({ place, kb: (await firstLoadBytes(place)) / 1000 })));
  const [largest = { place: 'no place', kb: Number.NaN }] = sizes.sort((a, b) => b.kb - a.kb);
  const what = `first load of JavaScript, compressed: ${largest.place}, the largest of ${places.length}`;
  return atMost(what, largest.kb, firstLoadMaxKb, 'KB');
}

/** Each round has a browser of its own, which has nothing in its cache. */
async function measureUsable(browser: SignedInBrowser): Promise<Figure> {
  const times: number[] = [];
  while (times.length < rounds) times.push(await timeToRow(browser, '/settings/mcp-servers', 'demo'));
  return medianMs('a place with a cold cache, until its list is shown', times, usableMaxMs);
}

async function timeToRow(browser: SignedInBrowser, path: string, row: string): Promise<number> {
  const context = await browser.newContextOfOwner({});
  const page = await context.newPage();
  const address = (await browser.places()) + path;
  const begun = performance.now();
  await page.goto(address, { waitUntil: 'commit' });
  await page.getByRole('row').filter({ hasText: row }).first().waitFor();
  const time = performance.now() - begun;
  await context.close();
  return time;
}

async function measurePalette(browser: SignedInBrowser): Promise<Figure[]> {
  const { page } = browser;
  const [opened, found, fromRequest]: number[][] = [[], [], []];
  for (let round = 0; round < rounds; round++) {
    await page.goto(await browser.places());
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.waitForTimeout(2000);
    const opening = await paintedAfterKey(page, `document.querySelector('dialog[open] [role="option"]')`);
    await page.keyboard.press('Control+k');
    opened?.push((await opening()).fromKey);
    // Each round looks for something else, so that no answer is remembered.
    const name = `measured-${skillCount - 1 - round}`;
    await page.keyboard.insertText(name.slice(0, -1));
    const finding = await paintedAfterKey(
      page,
      `[...document.querySelectorAll('dialog [role="option"]')].some(({ textContent }) => textContent === '${name}')`,
    );
    await page.keyboard.press(name.slice(-1));
    const times = await finding();
    found?.push(times.fromKey);
    fromRequest?.push(times.fromRequest);
  }
  const things = (skillCount + toolCount + roleCount).toLocaleString('en');
  return [
    medianMs('the palette opens', opened ?? [], paletteMaxMs),
    medianMs(`the palette finds one of ${things} things, after the pause in typing`, fromRequest ?? [], paletteMaxMs),
    medianMs('the same, with the pause', found ?? []),
  ];
}

interface KeyTimes {
  readonly fromKey: number;
  /** From the last request to the backend. */
  readonly fromRequest: number;
}

/** The times in ms from the next key until the page has painted what the expression waits for. */
async function paintedAfterKey(page: Page, expression: string): Promise<() => Promise<KeyTimes>> {
  await page.evaluate(`window.painted = new Promise((resolve) => {
    addEventListener('keydown', ({ timeStamp }) => {
      performance.clearResourceTimings();
      const observer = new MutationObserver(() => {
        if (!(${expression})) return;
        observer.disconnect();
        requestAnimationFrame(() => setTimeout(() => {
          const now = performance.now();
          const request = performance.getEntriesByType('resource').findLast(({ name }) => name.endsWith('/graphql'));
          resolve({ fromKey: now - timeStamp, fromRequest: now - (request?.startTime ?? now) });
        }));
      });
      observer.observe(document, { subtree: true, childList: true, characterData: true });
    }, { capture: true, once: true });
  }); null`);
  return async () => (await page.evaluate('window.painted')) as KeyTimes;
}

/** From the end of the process of an MCP server until the list of MCP servers says so. */
async function measureStatus(browser: SignedInBrowser): Promise<Figure> {
  const { page, platform } = browser;
  await page.goto(`${await browser.places()}/settings/mcp-servers`);
  const row = page.getByRole('row').filter({ hasText: 'demo' });
  const times: number[] = [];
  while (times.length < rounds) {
    await row.getByText('Connected').waitFor({ timeout: 60_000 });
    const changed = page.evaluate(`new Promise((resolve) => {
      const observer = new MutationObserver(() => {
        if ([...document.querySelectorAll('[role="row"]')].every(({ textContent }) => !textContent.includes('Error'))) return;
        observer.disconnect();
        requestAnimationFrame(() => setTimeout(() => resolve(performance.timeOrigin + performance.now())));
      });
      observer.observe(document, { subtree: true, childList: true, characterData: true });
    })`);
    const begun = performance.timeOrigin + performance.now();
    for (const { pid, command } of processesOf(platform.folder)) {
      if (command.includes('demo/server.mjs')) process.kill(pid, 'SIGKILL');
    }
    times.push(Number(await changed) - begun);
  }
  return medianMs('a changed status of an MCP server, until it is shown', times, statusMaxMs);
}

async function measureSkills(browser: SignedInBrowser): Promise<Figure[]> {
  const many = `${skillCount.toLocaleString('en')} skills`;
  const opened: number[] = [];
  while (opened.length < rounds) opened.push(await timeToRow(browser, '/skills', 'measured-'));
  const longest: number[] = [];
  while (longest.length < rounds) longest.push(await longestTaskOfScroll(browser));
  const smooth = longest.filter((ms) => ms <= taskMaxMs).length;
  return [
    medianMs(`the page of ${many} opens with a cold cache`, opened, openMaxMs),
    atLeast(`scrolls over ${many} without a task over ${taskMaxMs} ms`, smooth, smoothRunsMin, `of ${rounds}`, {
      longest,
    }),
    reported('the longest task of the slowest scroll', Math.max(...longest), 'ms'),
  ];
}

/** Scrolls to the end, while further pages arrive, and back. 0: no task was long enough to be noted. */
async function longestTaskOfScroll(browser: SignedInBrowser): Promise<number> {
  const context = await browser.newContextOfOwner({});
  const page = await context.newPage();
  await page.goto(`${await browser.places()}/skills`);
  await page.getByRole('row').filter({ hasText: 'measured-' }).first().waitFor();
  const longest = await page.evaluate(`new Promise((resolve) => {
    const tasks = [0];
    const note = (list) => tasks.push(...list.getEntries().map(({ duration }) => duration));
    const observer = new PerformanceObserver(note);
    observer.observe({ type: 'longtask' });
    const grid = document.querySelector('[role="grid"]');
    let step = 400;
    const scroll = () => {
      const isAtEnd = grid.scrollTop + grid.clientHeight >= grid.scrollHeight - 1;
      if (isAtEnd && grid.getAttribute('aria-rowcount') !== '-1') step = -1600;
      if (step < 0 && grid.scrollTop === 0) {
        setTimeout(() => {
          note({ getEntries: () => observer.takeRecords() });
          resolve(Math.max(...tasks));
        }, 200);
        return;
      }
      grid.scrollTop += step;
      requestAnimationFrame(scroll);
    };
    requestAnimationFrame(scroll);
  })`);
  await context.close();
  return Number(longest);
}
