import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { hasChromium } from '../../../stack/test/browser.ts';
import { foreignServers } from '../../../stack/test/foreign-servers.ts';
import { Platform, startTimeoutMs, testTimeoutMs } from '../../../stack/test/platform.ts';
import { SignedInBrowser, soon } from './signed-in-browser.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

/** A page asks for calls every 5 s, and the backend adds them up every second. */
const withinRefresh = { timeout: 12_000 };

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

  let key = '';

  test('the first call turns home into the usage at a glance', async () => {
    key = await platform.addKey('agent', '--role', 'Greeters');
    await page.goto(base);
    await page.getByRole('heading', { name: 'Connect an agent' }).waitFor();
    const agent = await platform.connect(key, `?skillIds=${await skillId('greet')}`);
    await agent.works('hello');
    await page.getByRole('heading', { name: 'Usage in the last 7 days' }).waitFor(withinRefresh);
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

  test('the policy refused nothing, and nothing was thrown', () => {
    expect(browser.complaints).toEqual([]);
  });
});
