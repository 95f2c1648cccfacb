import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createSkillMutation } from '../../../stack/client/generated/operations.ts';
import { hasChromium } from '../../../stack/test/browser.ts';
import { foreignServers } from '../../../stack/test/foreign-servers.ts';
import { Platform, startTimeoutMs, testTimeoutMs } from '../../../stack/test/platform.ts';
import { SignedInBrowser, soon } from './signed-in-browser.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

describe.skipIf(!hasChromium)('the pages of skills in Chromium', () => {
  let browser: SignedInBrowser;
  let platform: Platform;
  let page: Page;

  beforeAll(async () => {
    platform = await Platform.start();
    browser = await SignedInBrowser.open(platform);
    page = browser.page;
    await page.goto(`${await browser.places()}/skills`);
    await page.getByText('No skills yet').waitFor();
    await platform.addServer('everything', foreignServers.everything);
    await platform.addServer('second', foreignServers.everything);
    await platform.addSkill('greet', ['everything/echo']);
    await platform.addSkill('sum', ['second/get-sum']);
    await platform.addRole('greeters', ['greet']);
  }, startTimeoutMs);

  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
  }, startTimeoutMs);

  const row = (name: string, at = page) =>
    at.getByRole('row').filter({ has: at.getByRole('gridcell', { name, exact: true }) });
  const heading = (name: string, at = page) => at.getByRole('heading', { level: 1, name, exact: true }).waitFor();

  async function openList(query = ''): Promise<void> {
    await page.goto(`${await browser.places()}/skills${query}`);
    await heading('Skills');
  }

  async function openSkill(name: string, at = page): Promise<void> {
    await at.goto(`${await browser.places()}/skills?filter=${name}`);
    await row(name, at).click();
    await heading(name, at);
  }

  test('the list is searched and filtered by the address', async () => {
    await openList();
    await row('sum').waitFor();
    await row('greet').getByText('1 tool').waitFor();
    await page.getByLabel('Search skills').fill('gre');
    await row('sum').waitFor({ state: 'detached' });
    await page.getByLabel('Search skills').fill('');
    await row('sum').waitFor();
    await page.getByLabel('Role').selectOption({ label: 'greeters' });
    await row('sum').waitFor({ state: 'detached' });
    await page.reload();
    await row('greet').waitFor();
    expect(await row('sum').count()).toBe(0);
    await page.getByLabel('Availability').selectOption({ label: 'Unavailable' });
    await page.getByText('No match').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await row('sum').waitFor();
    expect(new URL(page.url()).search).toBe('');
  });

  test('the keyboard creates a skill, and writes its instructions', async () => {
    await openList();
    await page.keyboard.press('c');
    const dialog = page.getByRole('dialog', { name: 'Create skill' });
    await dialog.waitFor();
    await page.keyboard.type('Not a name');
    await page.keyboard.press('Tab');
    await dialog.getByText('"Not a name" is not a valid name for a skill').waitFor();
    await dialog.getByLabel('Name').fill('read-forms');
    await page.keyboard.press('Tab');
    await page.keyboard.type('Reads forms.');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await heading('read-forms');
    await page.getByRole('button', { name: 'Edit instructions' }).press('Enter');
    await page.getByLabel('Text in Markdown').focus();
    await page.keyboard.insertText(
      '# Forms\n\nRead **all** of [them](https://example.com/forms), [not](javascript:alert(1)).\n\n<b id="raw">raw</b> ![photo](https://example.com/photo.png)\n',
    );
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByRole('heading', { name: 'Forms', exact: true }).waitFor();
    const link = page.getByRole('link', { name: 'them' });
    expect(await link.getAttribute('rel')).toContain('noopener');
    expect(await page.getByRole('link', { name: 'not', exact: true }).count()).toBe(0);
    expect(await page.locator('main img, main #raw').count()).toBe(0);
    await page.getByText('[image: photo]').waitFor();
    await page.keyboard.press('Control+s');
    await page.getByRole('button', { name: 'Edit instructions' }).waitFor();
    const skill = await platform.svc('skill', 'show', 'read-forms');
    expect(JSON.stringify(skill)).toContain('**all**');
  });

  test('a long list asks for each page once as it is scrolled', async () => {
    const asked: (string | null)[] = [];
    await page.route('**/graphql', async (route) => {
      const { query, variables } = route.request().postDataJSON();
      if (!query.includes('query Skills(')) return await route.continue();
      const number = Number(variables.after ?? 0);
      asked.push(variables.after);
      const nodes = Array.from({ length: 100 }, (_, i) => ({
        ...{ __typename: 'Skill', id: `skl_${number}_${i}`, name: `long-${number * 100 + i}`, description: '' },
        ...{ available: true, reason: null, toolCount: 1, roles: [] },
      }));
      const pageInfo = { __typename: 'PageInfo', next: number === 4 ? null : String(number + 1) };
      const skills = { __typename: 'SkillPage', nodes, pageInfo };
      await route.fulfill({
        json: { data: { workspace: { __typename: 'Workspace', id: variables.workspace, skills } } },
        headers: { 'access-control-allow-origin': browser.origin, 'access-control-allow-credentials': 'true' },
      });
    });
    // Once connected, the page asks again for what it shows. That may be late on a busy machine.
    const connected = page
      .waitForEvent('websocket')
      .then((socket) => socket.waitForEvent('framereceived', ({ payload }) => payload.includes('"next"')));
    try {
      await openList();
      await row('long-0').waitFor();
      await connected;
      await page.waitForLoadState('networkidle');
      const grid = page.getByRole('grid', { name: 'Skills' });
      while ((await row('long-499').count()) === 0) {
        await grid.evaluate((list) => list.scrollTo(0, list.scrollHeight));
        await page.waitForTimeout(50);
      }
      expect(asked.filter((after) => after !== null)).toEqual(['1', '2', '3', '4']);
      expect(await grid.getAttribute('aria-rowcount')).toBe('501');
    } finally {
      await page.unroute('**/graphql');
    }
  });

  test('the palette finds a skill by its name', async () => {
    await page.goto(await browser.places());
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').waitFor();
    await page.keyboard.type('read-f');
    await page.getByRole('option', { name: 'read-forms' }).waitFor();
    await page.keyboard.press('Enter');
    await heading('read-forms');
  });

  test('text that is not saved stays, and a person is asked before leaving', async () => {
    await openSkill('read-forms');
    await page.getByRole('button', { name: 'Edit instructions' }).click();
    await page.getByLabel('Text in Markdown').fill('Half a thought');
    await page.getByRole('link', { name: 'Home' }).click();
    const dialog = page.getByRole('dialog', { name: 'Leave without saving?' });
    await dialog.getByRole('button', { name: 'Stay' }).click();
    await page.goBack();
    await page.getByText('You have changes that are not saved.').waitFor();
    await page.getByRole('button', { name: 'Continue editing' }).click();
    expect(await page.getByLabel('Text in Markdown').inputValue()).toBe('Half a thought');
    await browser.context.setOffline(true);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('alert').filter({ hasText: 'does not answer' }).waitFor();
    await browser.context.setOffline(false);
    expect(await page.getByLabel('Text in Markdown').inputValue()).toBe('Half a thought');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Discard' }).click();
    await page.getByRole('heading', { name: 'Forms', exact: true }).waitFor();
  });

  test('two people who edit at once both see the other text', async () => {
    await openSkill('read-forms');
    const other = await (await browser.newContextOfOwner({})).newPage();
    await openSkill('read-forms', other);
    for (const [at, text] of [
      [page, 'Mine'],
      [other, 'Theirs'],
    ] as const) {
      await at.getByRole('button', { name: 'Edit instructions' }).click();
      await at.getByLabel('Text in Markdown').fill(text);
    }
    await other.getByRole('button', { name: 'Save', exact: true }).click();
    await other.getByText('The instructions are saved.').waitFor();
    // Another change of the skill is no conflict of texts.
    await platform.svc('skill', 'update', 'read-forms', '--add-tool', 'everything/echo');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Somebody changed the instructions meanwhile.').waitFor();
    await page.getByText('Theirs', { exact: true }).waitFor();
    expect(await page.getByLabel('Your text').inputValue()).toBe('Mine');
    await page.getByRole('button', { name: 'Save mine' }).click();
    await other.getByText('Mine', { exact: true }).waitFor(soon);
    await other.close();
  });

  test('tools and patterns are added, and removed', async () => {
    await openSkill('read-forms');
    await page.getByRole('button', { name: 'Add tools' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add tools' });
    await dialog.getByRole('searchbox').fill('get-sum');
    await dialog.getByLabel(/get-sum.*second/).check();
    await dialog.getByRole('searchbox').fill('nothing/');
    await dialog.getByText('No MCP server has the name "nothing".').waitFor();
    await dialog.getByText('Chosen: second/get-sum').waitFor();
    await dialog.getByRole('searchbox').fill('everything/get-*');
    await dialog.getByLabel(/everything\/get-\*.*matches [1-9]/).check();
    await dialog.getByRole('button', { name: 'Add 2' }).click();
    await page.getByText('everything/get-*').waitFor();
    const tools = page.getByRole('list', { name: 'Tools' }).getByRole('listitem');
    await expect.poll(() => tools.count(), soon).toBeGreaterThan(2);
    await page.getByRole('button', { name: 'Remove everything/get-*' }).click();
    await expect.poll(() => tools.count(), soon).toBe(2);
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => tools.count(), soon).toBeGreaterThan(2);
  });

  test('a file goes up, comes down, and is removed', async () => {
    await openSkill('read-forms');
    const path = join(platform.folder, 'forms.md');
    await writeFile(path, '# All forms\n');
    await page.getByRole('button', { name: 'Upload file' }).click();
    const dialog = page.getByRole('dialog', { name: 'Upload file' });
    await dialog.getByText('At most 10 MB').waitFor();
    await dialog.locator('input[type=file]').setInputFiles(path);
    await dialog.getByLabel('Path in the skill').fill('../forms.md');
    await dialog.getByRole('button', { name: 'Upload', exact: true }).click();
    await dialog.getByText('each part must be a name').waitFor();
    await dialog.getByLabel('Path in the skill').fill('references/forms.md');
    await dialog.getByRole('button', { name: 'Upload', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download references/forms.md' }).click();
    expect(await readFile(await (await download).path(), 'utf8')).toBe('# All forms\n');
    await page.getByRole('button', { name: 'Remove references/forms.md' }).click();
    const confirm = page.getByRole('dialog', { name: 'Remove references/forms.md' });
    await confirm.getByRole('textbox').fill('references/forms.md');
    await confirm.getByRole('button', { name: 'Remove file' }).click();
    await page.getByText('Files hold what an agent needs only at times').waitFor();
  });

  test('the page says why a skill is unavailable, and its button repairs it', async () => {
    await openSkill('sum');
    await platform.svc('server', 'disable', 'second');
    await page.getByText('The MCP server "second" is Disconnected. It is disabled.').waitFor();
    await page.getByText('unavailable', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Enable second' }).click();
    await page.getByText('available', { exact: true }).waitFor();

    await platform.svc('skill', 'update', 'sum', '--add-tool', 'second/no-such-tool', '--allow-missing');
    await page.getByText('not offered by its MCP server now: second/no-such-tool').waitFor();
    await page.getByRole('button', { name: 'Remove 1 tool from the skill' }).click();
    await page.getByText('second/no-such-tool').waitFor({ state: 'detached' });
  });

  test('a role gets a skill and loses it, and a removed skill names its roles', async () => {
    await openSkill('sum');
    await page.getByRole('button', { name: 'Add to roles' }).click();
    await page.getByLabel('greeters').check();
    await page.getByRole('dialog').getByRole('button', { name: 'Add' }).click();
    await page.getByRole('button', { name: 'Remove from greeters' }).click();
    await page.getByText('No role has it').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('button', { name: 'Remove from greeters' }).waitFor();
    await page.getByRole('button', { name: 'Remove…' }).click();
    const confirm = page.getByRole('dialog', { name: 'Remove sum' });
    await confirm.getByText('These roles lose it: greeters.').waitFor();
    await confirm.getByLabel('Type sum to confirm').fill('sum');
    await confirm.getByRole('button', { name: 'Remove skill' }).click();
    await heading('Skills');
    await row('greet').waitFor();
    expect(await row('sum').count()).toBe(0);
  });

  test('a viewer reads, and is offered no change', async () => {
    await platform.svc('user', 'invite', 'eve@example.com', '--role', 'viewer').then(async ({ url }) => {
      const invited = await (await browser.newContext()).newPage();
      await invited.goto(url);
      await invited.getByLabel('Your name').fill('Eve');
      await invited.getByRole('button', { name: 'Join the workspace' }).click();
      await invited.waitForURL(/\/w\//);
      await openSkill('read-forms', invited);
      await invited.getByText('Mine', { exact: true }).waitFor();
      const changes = /^(Edit|Remove|Add|Upload|Enable|Restart)/;
      expect(await invited.getByRole('main').getByRole('button', { name: changes }).count()).toBe(0);
      await invited.goto(`${invited.url()}?open=remove`);
      await heading('read-forms', invited);
      expect(await invited.getByRole('dialog').count()).toBe(0);
      await invited.close();
    });
  });

  test('its pages and dialogs fit every width and have no barriers, light and dark', async () => {
    await openSkill('read-forms');
    const { pathname } = new URL(page.url());
    const list = pathname.slice(0, pathname.lastIndexOf('/'));
    const dialogs = ['details', 'instructions', 'tools', 'file', 'roles', 'remove'].map((open) => `?open=${open}`);
    for (const path of [list, pathname, `${list}?add=true`, ...dialogs.map((query) => pathname + query)]) {
      expect(await browser.flawsOf(browser.origin + path)).toEqual([]);
    }
  });

  test('a list of several pages shows what another browser adds and removes, and loses no row', async () => {
    const backend = await platform.backend();
    const workspace = await platform.workspace();
    for (let at = 0; at < 230; at += 1) {
      const input = { name: `many-${String(at).padStart(3, '0')}` };
      await backend.send(createSkillMutation, { workspace, input });
    }
    await openList('?filter=many');
    const grid = page.getByRole('grid', { name: 'Skills' });
    const showsRows = async (count: number) =>
      await expect
        .poll(async () => {
          await grid.evaluate((list) => list.scrollTo(0, list.scrollHeight));
          return await grid.getAttribute('aria-rowcount');
        }, soon)
        .toBe(String(count + 1));
    await showsRows(230);

    const others = await (await browser.newContextOfOwner({})).newPage();
    await others.goto(`${await browser.places()}/skills?add=true`);
    const dialog = others.getByRole('dialog', { name: 'Create skill' });
    await dialog.getByLabel('Name').fill('many-000-first');
    await dialog.getByRole('button', { name: 'Create skill' }).click();
    await heading('many-000-first', others);
    await showsRows(231);
    await platform.svc('skill', 'remove', 'many-050', '--yes');
    await platform.svc('skill', 'remove', 'many-150', '--yes');
    await showsRows(229);
    await row('many-229').waitFor();
    await others.close();
  });

  test('nothing was refused by the policy, and nothing was thrown', () => {
    expect(browser.complaints).toEqual([]);
  });
});
