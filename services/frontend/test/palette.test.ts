import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { hasChromium } from '../../../stack/test/browser.ts';
import { foreignServers } from '../../../stack/test/foreign-servers.ts';
import { Platform, startTimeoutMs, testTimeoutMs } from '../../../stack/test/platform.ts';
import { SignedInBrowser } from './signed-in-browser.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

describe.skipIf(!hasChromium)('the palette in Chromium', () => {
  let browser: SignedInBrowser;
  let platform: Platform;
  let page: Page;

  beforeAll(async () => {
    platform = await Platform.start();
    await platform.addServer('everything', foreignServers.everything);
    await platform.addSkill('everyday-work', ['everything/echo']);
    await platform.addRole('Everyone', ['everyday-work']);
    await platform.svc('user', 'create', 'everett@example.com', '--role', 'viewer');
    const backend = await platform.backend();
    const text = 'mutation ($w: ID!) { registerRuntime(workspace: $w, name: "ever-on") { secret } }';
    await backend.send({ text }, { w: await platform.workspace() });
    browser = await SignedInBrowser.open(platform);
    page = browser.page;
  }, startTimeoutMs);

  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
  }, startTimeoutMs);

  const option = (name: string | RegExp, on = page) =>
    on.getByRole('dialog', { name: 'Search' }).getByRole('option', { name });
  const focused = () => page.evaluate('document.activeElement.textContent');

  /** Opens it at home. */
  async function open(on = page): Promise<void> {
    await on.goto(await browser.places());
    // Without its workspace the palette has no places.
    await on.getByRole('button', { name: 'Default', exact: true }).waitFor();
    await summon(on);
  }

  /** A key before it is open belongs to the page. */
  async function summon(on = page): Promise<void> {
    await on.keyboard.press('Control+k');
    await on.getByRole('combobox', { name: 'Search' }).waitFor();
  }

  /** Each letter is a change of its own, and a busy machine makes no pause between them. */
  async function typeAtOnce(letters: string): Promise<void> {
    await page.evaluate(`for (const letter of '${letters}') document.execCommand('insertText', false, letter)`);
  }

  test('is opened, used and closed by keys, and gives the focus back', async () => {
    await open();
    await page.keyboard.press('Escape');
    await page.getByRole('combobox').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Search' }).focus();
    await page.keyboard.press('Enter');
    await option('Home').waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').waitFor({ state: 'detached' });
    await expect.poll(focused).toContain('Search');

    await summon();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Skills', exact: true }).waitFor();
    await summon();
    await page.keyboard.press('ArrowUp');
    expect(
      await option(/^Theme/)
        .last()
        .getAttribute('aria-selected'),
    ).toBe('true');
    await page.keyboard.press('Escape');
  });

  test.each([
    ['everyday', 'everyday-work', { heading: 'everyday-work' }],
    ['everyone', 'Everyone', { panel: 'Everyone' }],
    ['everything', 'everything', { panel: 'everything' }],
    ['everett', 'everett everett@example.com', { panel: 'everett' }],
    ['ever on', 'ever-on', { panel: 'ever-on' }],
    ['echo', 'echo everything', { panel: 'everything' }],
  ])('"%s" finds %s and opens it', async (typed, name, { heading, panel }: { heading?: string; panel?: string }) => {
    await open();
    await page.keyboard.type(typed);
    await option(name).first().waitFor();
    await expect.poll(() => option(name).first().getAttribute('aria-selected')).toBe('true');
    await page.keyboard.press('Enter');
    if (heading !== undefined) await page.getByRole('heading', { level: 1, name: heading }).waitFor();
    if (panel !== undefined) await page.getByRole('complementary', { name: panel }).waitFor();
  });

  test('is opened again by a key that comes before the browser has told its end', async () => {
    await open();
    await page.evaluate(`document.querySelector('dialog[open]').close();
      document.dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true }))`);
    await expect.poll(() => page.evaluate("document.querySelector('dialog[open]') !== null")).toBe(true);
    await page.waitForTimeout(300);
    await option('Home').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('combobox').waitFor({ state: 'detached' });
  });

  test('a key of the person is found, and says when nothing has a name', async () => {
    await open();
    await page.keyboard.type('create api');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Create API key' }).waitFor();
    await page.keyboard.type('evening-agent');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Done' }).click();
    await open();
    await page.keyboard.type('evening');
    await option('evening-agent').click();
    await page.getByRole('complementary', { name: 'evening-agent' }).waitFor();
    await summon();
    await page.keyboard.type('no such thing');
    await page.getByText('Nothing has this name.').waitFor();
    expect(await option(/./).count()).toBe(0);
  });

  test('asks once for each pause in typing, and drops a question that is not asked any more', async () => {
    await open();
    const asked: string[] = [];
    let isHeld = true;
    await page.route('**/graphql', async (route) => {
      const { query, variables } = route.request().postDataJSON();
      if (!query.startsWith('query Found(')) return await route.continue();
      asked.push(variables.search);
      // The first question is never answered.
      if (isHeld) isHeld = false;
      else await route.continue();
    });
    const dropped = page.waitForEvent('requestfailed', (request) => /"search":"eve"/.test(request.postData() ?? ''));
    // It is awaited below, after what may fail before.
    dropped.catch(() => undefined);
    await typeAtOnce('eve');
    await expect.poll(() => asked).toEqual(['eve']);
    await typeAtOnce('rything');
    await expect.poll(() => asked).toEqual(['eve', 'everything']);
    await option('everything').first().waitFor();
    expect((await dropped).failure()?.errorText).toBe('net::ERR_ABORTED');
    expect(asked).toEqual(['eve', 'everything']);
    await page.unroute('**/graphql');
  });

  test('what was found for an earlier text is not opened by a later one', async () => {
    await open();
    await page.keyboard.type('everyone');
    await option('Everyone').waitFor();
    await page.route('**/graphql', () => undefined);
    await page.keyboard.press('Backspace');
    await option('Everyone').waitFor();
    await page.keyboard.type('x');
    await option('Everyone').waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    await page.getByText('Searching…').waitFor();
    await page.unroute('**/graphql');
  });

  test('restarts an MCP server', async () => {
    await open();
    await page.keyboard.type('restart');
    await page.keyboard.press('Enter');
    await option('Restart everything').waitFor();
    await page.keyboard.type('everyt');
    expect(await page.getByRole('combobox').inputValue()).toBe('Restart everyt');
    await option('Restart everything').waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('everything restarts.').waitFor();
    await page.getByRole('combobox').waitFor({ state: 'detached' });
  });

  test('creates in each place, switches the theme and shows the shortcuts', async () => {
    for (const [typed, dialog] of [
      ['create skill', 'Create skill'],
      ['create role', 'Create role'],
      ['add mcp', 'Add MCP server'],
      ['invite', 'Invite people'],
      ['create api', 'Create API key'],
      ['create work', 'Create workspace'],
      ['shortcuts', 'Keyboard shortcuts'],
    ] as const) {
      await open();
      await page.keyboard.type(typed);
      await page.keyboard.press('Enter');
      await page.getByRole('dialog', { name: dialog }).waitFor();
    }
    await open();
    await page.keyboard.type('dark');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate('document.documentElement.className')).toBe('dark');
    await page.getByRole('combobox').waitFor({ state: 'detached' });
    await summon();
    await page.keyboard.type('system');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate('document.documentElement.className')).toBe('');
  });

  test('a viewer finds no members and no actions beyond the own rights', async () => {
    const viewers = await (await browser.newContext()).newPage();
    await viewers.goto(await browser.signInLink('everett@example.com'));
    await viewers.waitForURL(/\/w\//);
    await open(viewers);
    await viewers.keyboard.type('e');
    await option('everything', viewers).first().waitFor();
    expect(await option(/everett/, viewers).count()).toBe(0);
    await viewers.getByRole('combobox').fill('restart');
    await viewers.getByText('Nothing has this name.').waitFor();
    await viewers.getByRole('combobox').fill('create');
    await viewers.getByText('Create workspace').waitFor();
    expect(await option(/^(Create (skill|role)|Add|Invite|Register)/, viewers).count()).toBe(0);
    await viewers.context().close();
  });

  test('switches the workspace, and finds nothing of the other one', async () => {
    await platform.svc('workspace', 'create', 'Evergreen', '--owner-email', 'owner@localhost');
    await open();
    await page.keyboard.type('evergreen');
    await option('Switch to Evergreen').waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Evergreen' }).waitFor();
    await summon();
    await page.keyboard.type('every');
    await page.getByText('Nothing has this name.').waitFor();
    await page.keyboard.press('Escape');
  });

  test('without a connection places are found, and the error is said', async () => {
    await open();
    await browser.context.setOffline(true);
    await page.keyboard.type('usage');
    await page.getByText('does not answer').waitFor();
    await option('Usage').waitFor();
    await browser.context.setOffline(false);
  });

  test('fits every width and has no barriers, light and dark', async () => {
    const find = async (looked: Page) => {
      await open(looked);
      await looked.keyboard.type('ever');
      await option('Everyone', looked).waitFor();
    };
    expect(await browser.flawsOf('', open)).toEqual([]);
    expect(await browser.flawsOf('', find)).toEqual([]);
  });

  test('nothing was refused by the policy, and nothing was thrown', () => {
    expect(browser.complaints).toEqual([]);
  });
});
