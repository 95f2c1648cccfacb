import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { hasChromium } from '../../../stack/test/browser.ts';
import { foreignServers } from '../../../stack/test/foreign-servers.ts';
import { hasNatsServer, Platform, startTimeoutMs, testTimeoutMs } from '../../../stack/test/platform.ts';
import { SignedInBrowser } from './signed-in-browser.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

/** A change by one person is on the screen of another within this time. */
const aSecond = { timeout: 1000 };

/** Two people look at one workspace, whose services are processes that meet on NATS. */
describe.skipIf(!hasChromium || !hasNatsServer)('two browsers at a platform of several processes', () => {
  let browser: SignedInBrowser;
  let platform: Platform;
  let mine: Page;
  let theirs: Page;
  let base = '';

  beforeAll(async () => {
    platform = await Platform.start({ topology: 'distributed' });
    browser = await SignedInBrowser.open(platform);
    mine = browser.page;
    theirs = await (await browser.newContextOfOwner({})).newPage();
    base = await browser.places();
  }, startTimeoutMs);

  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
  }, startTimeoutMs);

  const row = (at: Page) => at.getByRole('row').filter({ hasText: 'everything' });

  async function openBoth(path: string): Promise<void> {
    for (const page of [mine, theirs]) {
      await page.goto(base + path);
      await page.getByRole('heading', { level: 1 }).waitFor();
    }
  }

  /** The page notes each status that the row of this name shows. */
  async function noteStatuses(page: Page, name = 'everything'): Promise<() => Promise<unknown>> {
    await page.evaluate(`(() => {
      window.noted = [];
      const note = () => {
        const row = [...document.querySelectorAll('[role="row"]')].find((one) => one.textContent.includes('${name}'));
        const [status] = row?.textContent.match(/Connected|Disconnected|Error|(un)?available/) ?? [];
        if (status !== undefined && window.noted.at(-1) !== status) window.noted.push(status);
      };
      note();
      new MutationObserver(note).observe(document.body, { childList: true, subtree: true, characterData: true });
    })()`);
    return async () => await page.evaluate('window.noted');
  }

  test('an MCP server that one adds becomes Connected in front of both, and an agent calls its tool', async () => {
    await openBoth('/settings/mcp-servers');
    await theirs.getByText('No MCP servers yet').waitFor();
    const noted = [await noteStatuses(mine), await noteStatuses(theirs)];
    await mine.keyboard.press('c');
    await mine.getByLabel('Command, address or JSON').fill(foreignServers.everything.join(' '));
    await mine.getByLabel('Name', { exact: true }).fill('everything');
    await mine.getByRole('dialog').getByRole('button', { name: 'Add MCP server' }).click();
    await row(mine).waitFor();
    await row(theirs).waitFor(aSecond);
    for (const page of [mine, theirs]) await row(page).getByText('Connected', { exact: true }).waitFor();
    for (const statuses of noted) expect(await statuses()).toEqual(['Disconnected', 'Connected']);

    const skill = await platform.addSkill('greet', ['everything/echo']);
    await platform.addRole('Greeters', ['greet']);
    const agent = await platform.connect(await platform.addKey('agent'), `?skillIds=${skill}`);
    await agent.works('over the bus');
  });

  test('the death of the runtime and its return are on both screens', async () => {
    await openBoth('/settings/mcp-servers');
    for (const page of [mine, theirs]) await row(page).getByText('Connected', { exact: true }).waitFor();
    const noted = [await noteStatuses(mine), await noteStatuses(theirs)];
    const runtimes = await browser.context.newPage();
    await runtimes.goto(`${base}/settings/runtimes`);
    await runtimes.getByText('available', { exact: true }).waitFor();
    const ofRuntime = await noteStatuses(runtimes, 'cloud');
    await platform.changedBy(() => platform.killService('runtime'));
    for (const statuses of noted) {
      await expect.poll(statuses, { timeout: 30_000 }).toEqual(['Connected', 'Disconnected', 'Connected']);
    }
    await expect.poll(ofRuntime, { timeout: 30_000 }).toEqual(['available', 'unavailable', 'available']);
    await runtimes.close();
  });

  test('each sees the change of the other within a second', async () => {
    await openBoth('/roles');
    const cell = (page: Page) => page.getByRole('checkbox', { name: 'greet in Greeters' });
    for (const page of [mine, theirs]) await expect.poll(() => cell(page).getAttribute('aria-checked')).toBe('true');
    await mine.waitForLoadState('networkidle');
    await theirs.waitForLoadState('networkidle');
    for (const [changing, watching, checked] of [
      [mine, theirs, 'false'],
      [theirs, mine, 'true'],
    ] as const) {
      await cell(changing).click();
      await expect.poll(() => cell(watching).getAttribute('aria-checked'), aSecond).toBe(checked);
    }
    expect(browser.complaints).toEqual([]);
  });
});
