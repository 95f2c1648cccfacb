import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { hasChromium } from '../../../stack/test/browser.ts';
import { foreignServers } from '../../../stack/test/foreign-servers.ts';
import { Platform, startTimeoutMs, testTimeoutMs } from '../../../stack/test/platform.ts';
import { agentByConsent } from './agent-by-consent.ts';
import { barriersIn, overflowOf, SignedInBrowser, soon } from './signed-in-browser.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

/** Calls are added up every second, and a page asks for the sums two seconds later. */
const whenCounted = { timeout: 6000 };

const dayMs = 24 * 60 * 60 * 1000;

/** The tests are one story: a workspace gets what an agent needs, and the agent works. */
describe.skipIf(!hasChromium)('home, keys, usage and activity in Chromium', () => {
  let browser: SignedInBrowser;
  let platform: Platform;
  /** Those of the owner and of a viewer. */
  let page: Page;
  let viewers: Page;
  let base = '';

  beforeAll(async () => {
    platform = await Platform.start();
    browser = await SignedInBrowser.open(platform);
    page = browser.page;
    base = await browser.places();
    await platform.run(['user', 'create', 'viewer@example.com', '--role', 'viewer']);
    viewers = await (await browser.newContext()).newPage();
    await viewers.goto(await browser.signInLink('viewer@example.com'));
    await viewers.waitForURL(/\/w\//);
  }, startTimeoutMs);

  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
  }, startTimeoutMs);

  const row = (name: string, at = page) =>
    at.getByRole('row').filter({ has: at.getByRole('gridcell', { name, exact: true }) });
  const stepOf = (title: string, at = page) => at.getByRole('listitem').filter({ hasText: title });

  test('home tells the steps to the first call, and those of a viewer name who does the others', async () => {
    await page.goto(base);
    await page.getByText('Everything is well').waitFor();
    await page.getByRole('heading', { name: 'Connect an agent' }).waitFor();
    await viewers.goto(base);
    await stepOf('Add an MCP server', viewers).getByText('Owners and admins do this.').waitFor();
    expect(await viewers.getByRole('link', { name: 'Create skill' }).count()).toBe(0);

    await stepOf('Add an MCP server').getByRole('link').click();
    await page.getByRole('dialog', { name: 'Add MCP server' }).waitFor();
    await page.goto(base);
    await platform.addServer('everything', foreignServers.everything);
    await platform.addSkill('greet', ['everything/echo']);
    await stepOf('Create a skill').getByText(': done').waitFor(soon);
    expect(await stepOf('Put the skill into a role').getByText(': done').count()).toBe(0);
    await platform.addRole('Greeters', ['greet']);
    await stepOf('Put the skill into a role').getByText(': done').waitFor(soon);
    expect(await page.getByRole('main').textContent()).not.toMatch(/\bsvc /);
  });

  test('home says what is not well, counts in the top bar what the person may mend, and leads there', async () => {
    await page.goto(base);
    await page.getByText('Everything is well').waitFor();
    await platform.run(['server', 'add', 'crm', '--', 'false']);
    await page.getByText('The MCP server crm is Error').waitFor(soon);
    await page.getByText('1 thing is not well').waitFor();
    await page.goto(`${base}/skills`);
    await page.getByRole('link', { name: '1 thing needs you' }).click();
    await page.getByRole('link', { name: 'Repair: The MCP server crm is Error' }).click();
    await page.getByRole('complementary', { name: 'crm' }).waitFor();

    await viewers.goto(base);
    await viewers.getByRole('link', { name: 'Show: The MCP server crm is Error' }).waitFor();
    expect(await viewers.getByRole('link', { name: /needs? you/ }).count()).toBe(0);
    await platform.svc('server', 'remove', 'crm', '--yes');
    await viewers.getByText('Everything is well').waitFor(soon);
    await page.getByRole('link', { name: '1 thing needs you' }).waitFor({ state: 'detached', ...soon });
  });

  test('home tells a refusal once, and asks for everything again', async () => {
    let isRefusing = true;
    await page.route('**/graphql', async (route) => {
      const isOfFrame = /query (Viewer|OpenedWorkspace)\b/.test(route.request().postDataJSON().query);
      if (!isRefusing || isOfFrame) return await route.continue();
      await route.fulfill({
        json: { errors: [{ message: 'The graph does not answer.', extensions: { code: 'unavailable' } }] },
        headers: { 'access-control-allow-origin': browser.origin, 'access-control-allow-credentials': 'true' },
      });
    });
    await page.goto(base);
    await page.getByRole('alert').waitFor();
    await page.waitForLoadState('networkidle');
    expect(await page.getByRole('alert').count()).toBe(1);
    isRefusing = false;
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'Connect an agent' }).waitFor();
    await page.getByText('Everything is well').waitFor();
    await page.unrouteAll({ behavior: 'wait' });
  });

  let key = '';

  test('the first call turns home into the usage at a glance', async () => {
    key = await platform.addKey('agent', '--role', 'Greeters');
    await page.goto(base);
    await page.getByRole('heading', { name: 'Connect an agent' }).waitFor();
    const agent = await platform.connect(key, `?skillIds=${await skillId('greet')}`);
    await agent.works('hello');
    await page.getByRole('heading', { name: 'Usage in the last 7 days' }).waitFor(whenCounted);
    await page.getByText('Average duration').waitFor();
    expect(await page.getByRole('heading', { name: 'Connect an agent' }).count()).toBe(0);
  });

  async function skillId(name: string): Promise<string> {
    // biome-ignore lint/suspicious/noExplicitAny: the test says what it expects of it
    const answer: any = await (await platform.backend()).send(
      { text: 'query ($name: String) { workspace(name: "Default") { skill(name: $name) { id } } }' },
      { name },
    );
    return answer.workspace.skill.id;
  }

  test('usage shows a further call when it is counted, by key and by skill', async () => {
    await page.goto(`${base}/settings/usage`);
    const calls = page.getByRole('definition').first();
    await calls.waitFor();
    const before = Number(await calls.textContent());
    // The numbers beside the chart are drawn.
    const drawn = `(() => {
      const { clientHeight } = document.querySelector('canvas');
      const pen = document.querySelector('canvas').getContext('2d');
      return pen.getImageData(0, 0, 40, clientHeight).data.some((value) => value > 0);
    })()`;
    await expect.poll(() => page.evaluate(drawn), soon).toBe(true);
    await page.getByRole('region', { name: 'By key' }).getByText('agent', { exact: true }).waitFor();
    await page.getByRole('region', { name: 'By skill' }).getByText('greet', { exact: true }).waitFor();
    const agent = await platform.connect(key, `?skillIds=${await skillId('greet')}`);
    await agent.works('again');
    await expect.poll(async () => Number(await calls.textContent()), whenCounted).toBeGreaterThan(before);
    await page.getByLabel('Range').selectOption({ label: 'Last 24 hours' });
    await page.waitForURL(/range=24h/);
    await page.getByText('Show as a table').click();
    await page.getByRole('rowheader').first().waitFor();
  });

  test('a key is made for some roles, with an expiry, and shown once with what connects an agent', async () => {
    await browser.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.goto(`${base}/profile/api-keys`);
    await row('agent').waitFor();
    await page.keyboard.press('c');
    const dialog = page.getByRole('dialog', { name: 'Create API key' });
    await dialog.getByLabel('Name').fill('laptop');
    await dialog.getByLabel('Only some roles').check();
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await dialog.getByText('Choose at least one role.').and(page.locator(':focus')).waitFor();
    await dialog.getByLabel('Greeters').check();
    await dialog.getByLabel('Expires').selectOption({ label: '30 days from now' });
    await dialog.getByRole('button', { name: 'Create key' }).click();
    const shown = page.getByRole('dialog', { name: 'Key laptop' });
    const secret = (await shown.getByText(/^SVA_/).textContent()) ?? '';
    await shown.getByRole('button', { name: 'Copy' }).first().click();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(secret);
    await shown.getByRole('tab', { name: 'curl' }).click();
    await shown.getByText('curl').last().waitFor();
    expect((await (await platform.connect(secret)).client.listTools()).tools.length).toBeGreaterThan(0);
    await shown.getByRole('button', { name: 'Done' }).click();
    await row('laptop').getByText('Greeters').waitFor();
    expect(await page.content()).not.toContain(secret);
    await page.reload();
    const expiry = await row('laptop').locator('time').last().getAttribute('datetime');
    expect((Date.parse(expiry ?? '') - Date.now()) / dayMs).toBeCloseTo(30, 1);
    expect(await page.content()).not.toContain(secret);
  });

  test('a key is rotated: the old one stays until it is revoked', async () => {
    await page.goto(`${base}/profile/api-keys?add=true`);
    const dialog = page.getByRole('dialog', { name: 'Create API key' });
    await dialog.getByLabel('Name').fill('agent');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    const refusal = dialog.getByRole('alert').filter({ hasText: 'exists already' });
    await refusal.waitFor();
    expect(await refusal.textContent()).not.toContain('svc ');
    await dialog.getByLabel('Name').fill('rotated');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    const shown = page.getByRole('dialog', { name: 'Key rotated' });
    const old = (await shown.getByText(/^SVA_/).textContent()) ?? '';
    await shown.getByRole('button', { name: 'Done' }).click();
    await row('rotated').click();
    const panel = page.getByRole('complementary', { name: 'rotated' });
    await panel.getByRole('button', { name: 'Rotate…' }).click();
    await page.getByRole('button', { name: 'Rotate key' }).click();
    const fresh = (await shown.getByText(/^SVA_/).textContent()) ?? '';
    expect(fresh).not.toBe(old);
    await shown.getByRole('button', { name: 'Done' }).click();
    await page.getByText('A newer key of this name replaces it.').waitFor();
    const [ofOld, ofFresh] = [await platform.connect(old), await platform.connect(fresh)];
    await panel.getByRole('button', { name: 'Revoke the old key…' }).click();
    const question = page.getByRole('dialog', { name: 'Revoke rotated' });
    await question.getByRole('textbox').fill('rotated');
    await question.getByRole('button', { name: 'Revoke key' }).click();
    await page.getByText('A newer key of this name replaces it.').waitFor({ state: 'detached', ...soon });
    await expect(ofOld.client.listTools()).rejects.toThrow();
    expect((await ofFresh.client.listTools()).tools.length).toBeGreaterThan(0);
  });

  test('a key that expires is labelled at that moment, home leads to it, and it is extended there', async () => {
    const { id } = await platform.svc('keys', 'show', 'agent');
    await page.goto(`${base}/profile/api-keys`);
    await row('agent').getByText('valid').waitFor();
    await (await platform.backend()).send(
      {
        text: 'mutation ($w: ID!, $id: ID!, $at: Float) { updateKey(workspace: $w, id: $id, input: { expiresAt: $at }) { id } }',
      },
      { w: await platform.workspace(), id, at: Date.now() + 2000 },
    );
    await row('agent').getByText('Expired').waitFor(soon);
    await page.goto(base);
    await page.getByText('Your key agent is Expired').waitFor();
    await page.getByRole('link', { name: /^Change expiry/ }).click();
    const panel = page.getByRole('complementary', { name: 'agent' });
    await panel.getByRole('tab', { name: 'What it can use' }).click();
    await panel.getByText('The platform refuses this key').waitFor();
    await page.waitForURL(/tab=explain/);
    await panel.getByRole('button', { name: 'Change its expiry' }).click();
    await panel.getByLabel('Expires').selectOption({ label: 'No expiry' });
    await panel.getByRole('button', { name: 'Save changes' }).click();
    await panel.getByText('valid', { exact: true }).waitFor(soon);
    expect((await (await platform.connect(key)).client.listTools()).tools.length).toBeGreaterThan(0);
  });

  test('the explanation of a key follows the rules, the roles and the MCP servers', async () => {
    await page.goto(`${base}/profile/api-keys`);
    await row('agent').click();
    const panel = page.getByRole('complementary', { name: 'agent' });
    await panel.getByRole('tab', { name: 'What it can use' }).click();
    await panel.getByText('can use 1 of 1 skill, with 1 tool.').waitFor();
    await page.reload();
    await panel.getByText('can use 1 of 1 skill, with 1 tool.').waitFor();

    await platform.svc('role', 'update', 'Greeters', '--add-deny', 'everything/echo');
    await panel.getByText('(rule: deny everything/echo)').waitFor(soon);
    await panel.getByText('without tools').waitFor();
    await panel.getByRole('link', { name: 'Change the rules of the role Greeters' }).click();
    await page.getByRole('complementary', { name: 'Greeters' }).waitFor();
    await page.goBack();
    await platform.svc('role', 'update', 'Greeters', '--remove-deny', 'everything/echo');
    await panel.getByText('can use 1 of 1 skill, with 1 tool.').waitFor(soon);

    await platform.addRole('Others', ['greet']);
    await panel.getByText('The key is not for this role.').waitFor(soon);
    await panel.getByRole('button', { name: 'Give it the role Others' }).waitFor();
    await platform.svc('server', 'disable', 'everything');
    await panel.getByText('unavailable').waitFor(soon);
    await panel.getByText('can use 0 of 1 skill').waitFor();
    await panel.getByRole('link', { name: 'Enable the MCP server' }).waitFor();
    await platform.svc('server', 'enable', 'everything');
    await panel.getByText('can use 1 of 1 skill').waitFor({ timeout: 20_000 });
  });

  test('a connected agent says what it can use, and is refused at once when it is disconnected', async () => {
    const token = await agentByConsent(platform, page, 'Helper');
    const agent = await platform.connect(token);
    expect((await agent.client.listTools()).tools.length).toBeGreaterThan(0);
    await page.goto(`${base}/profile/connected-agents`);
    await row('Helper').click();
    const panel = page.getByRole('complementary', { name: 'Helper' });
    await panel.getByRole('tab', { name: 'What it can use' }).click();
    await panel.getByText('can use 1 of 1 skill').waitFor();
    await panel.getByRole('tab', { name: 'Agent' }).click();
    await panel.getByRole('button', { name: 'Disconnect…' }).click();
    const question = page.getByRole('dialog', { name: 'Disconnect Helper' });
    await question.getByRole('textbox').fill('Helper');
    await question.getByRole('button', { name: 'Disconnect' }).click();
    await page.getByText('No connected agents').waitFor();
    await expect(agent.client.listTools()).rejects.toThrow();
  });

  test('activity is filtered on the server by what one types, and keeps addresses from viewers', async () => {
    const w = await platform.workspace();
    const { id } = await platform.svc('role', 'show', 'Others');
    // More changes than a page has, so that the filter must find the first ones on the server.
    const changes = Array.from(
      { length: 50 },
      (_, i) => `c${i}: updateRole(workspace: $w, id: $id, input: { description: "${i}" }) { id }`,
    );
    for (const more of ['a', 'b', 'c']) {
      const text = `mutation ($w: ID!, $id: ID!) { ${changes.join(' ').replaceAll('description: "', `description: "${more}`)} }`;
      await (await platform.backend()).send({ text }, { w, id });
    }
    await page.goto(`${base}/activity`);
    await page.getByText('changed role Others').first().waitFor();
    expect(await page.getByText('created skill greet').count()).toBe(0);
    // A change that arrives leaves all older ones where they are.
    const grid = page.getByRole('grid', { name: 'Activity' });
    await grid.focus();
    const rowCount = async () => {
      await page.keyboard.press('End');
      return Number(await grid.getAttribute('aria-rowcount'));
    };
    await expect.poll(rowCount, soon).toBeGreaterThan(150);
    const rows = await rowCount();
    await platform.svc('role', 'update', 'Others', '--description', 'the last one');
    await expect.poll(rowCount, soon).toBe(rows + 1);
    await page.getByText('created workspace Default').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('created greet');
    await page.getByText('created skill greet').waitFor();
    await page.getByText('changed role Others').first().waitFor({ state: 'detached' });
    await page.reload();
    await page.getByText('created skill greet').waitFor();
    await page.goto(`${base}/activity?filter=viewer%40example.com`);
    await page.getByText('created member viewer@example.com').waitFor();

    await viewers.goto(`${base}/activity?filter=created%20member`);
    await viewers.getByText('created member a person').first().waitFor();
    expect(await viewers.getByRole('grid').textContent()).not.toContain('@example.com');
    await viewers.goto(`${base}/activity?filter=viewer%40example.com`);
    await viewers.getByText('No match').waitFor();
  });

  test.each([
    ['light', 1440],
    ['dark', 390],
  ] as const)('has no barriers that axe finds, in %s at %d', async (colorScheme, width) => {
    await using made = await browser.newContextOfOwner({ colorScheme, width });
    const looked = await made.newPage();
    const { id } = await platform.svc('keys', 'show', 'agent');
    for (const [path, text] of [
      ['', 'Average duration'],
      [`/profile/api-keys?panel=${id}`, 'Rotate…'],
      [`/profile/api-keys?panel=${id}&tab=explain`, 'What it cannot use'],
      ['/settings/usage', 'Average duration'],
      ['/activity', 'changed role Others'],
    ] as const) {
      await looked.goto(base + path);
      await looked.getByText(text).first().waitFor();
      await looked.waitForTimeout(300);
      expect(await barriersIn(looked), path).toEqual([]);
      expect(await overflowOf(looked), path).toBe(0);
    }
  });

  test('the policy refused nothing, and nothing was thrown', () => {
    expect(browser.complaints).toEqual([]);
  });
});
