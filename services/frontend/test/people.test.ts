import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { hasChromium } from '../../../stack/test/browser.ts';
import { Platform, startTimeoutMs, testTimeoutMs } from '../../../stack/test/platform.ts';
import { send } from '../../remote-mcp/test/raw.ts';
import { agentByConsent } from './agent-by-consent.ts';
import { overflowOf, SignedInBrowser, soon } from './signed-in-browser.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

/** A member who is suspended or removed is out within this time. */
const aSecond = { timeout: 1000 };

/** The tests are one story: a colleague is invited, joins, is changed, suspended, resumed and removed. */
describe.skipIf(!hasChromium)('people in Chromium', () => {
  let browser: SignedInBrowser;
  let platform: Platform;
  /** Those of the owner and of the colleague. */
  let page: Page;
  let anns: Page;

  beforeAll(async () => {
    platform = await Platform.start();
    browser = await SignedInBrowser.open(platform);
    page = browser.page;
    anns = await (await browser.newContext()).newPage();
  }, startTimeoutMs);

  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
  }, startTimeoutMs);

  const row = (name: string) => page.getByRole('row').filter({ hasText: name });

  async function openMembers(): Promise<void> {
    await page.goto(`${await browser.places()}/settings/members`);
    await row('owner@localhost').waitFor();
  }

  async function openAnn() {
    await openMembers();
    await row('ann@example.com').click();
    const panel = page.getByRole('complementary', { name: 'Ann' });
    await panel.waitFor();
    return panel;
  }

  /** The link of the mail, which the operator sees too. */
  async function invitationOf(email: string): Promise<string> {
    const backend = await platform.backend();
    const text = '{ workspace(name: "Default") { invitations { nodes { email url } } } }';
    // biome-ignore lint/suspicious/noExplicitAny: the test says what it expects of it
    const answer: any = await backend.send({ text }, {});
    return answer.workspace.invitations.nodes.find((one: { email: string }) => one.email === email).url;
  }

  test('an owner invites several people by the keyboard, and each refusal has its own words', async () => {
    await page.goto(await browser.places());
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('e');
    await page.getByRole('heading', { name: 'Members', exact: true }).waitFor();
    await row('owner@localhost').waitFor();
    await page.keyboard.press('c');
    const dialog = page.getByRole('dialog', { name: 'Invite people' });
    await dialog.waitFor();
    await page.keyboard.type('ann@example.com, nobody owner@localhost bob@example.com');
    for (let i = 0; i < 3; i++) await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    const refusals = dialog.getByRole('listitem');
    await expect.poll(() => refusals.allTextContents()).toHaveLength(2);
    expect(await refusals.allTextContents()).toEqual([
      expect.stringContaining('"nobody" is not an e-mail address'),
      expect.stringContaining('"owner@localhost" is a member of the workspace "Default" already'),
    ]);
    expect(await dialog.getByLabel('E-mail addresses').inputValue()).toBe('nobody\nowner@localhost');
    await page.keyboard.press('Escape');
    await row('ann@example.com').waitFor(soon);
    await row('bob@example.com').waitFor(soon);
  });

  test('an invitation is sent again, which ends the link before, and withdrawn', async () => {
    await openMembers();
    const before = await invitationOf('ann@example.com');
    await row('ann@example.com').click();
    await page.getByRole('dialog', { name: 'Invitation' }).getByRole('button', { name: 'Send again' }).click();
    await expect.poll(() => invitationOf('ann@example.com')).not.toBe(before);
    await row('bob@example.com').click();
    await page.getByRole('dialog', { name: 'Invitation' }).getByRole('button', { name: 'Withdraw' }).click();
    await row('bob@example.com').waitFor({ state: 'detached', ...soon });
    await anns.goto(before);
    await anns.getByRole('alert').filter({ hasText: 'The invitation is not valid' }).waitFor();
  });

  test('an invitation that nobody accepted in time says so', async () => {
    const later = await (await browser.newContextOfOwner({})).newPage();
    await later.clock.setFixedTime(Date.now() + 8 * 24 * 60 * 60_000);
    await later.goto(`${await browser.places()}/settings/members`);
    const invited = later.getByRole('row').filter({ hasText: 'ann@example.com' });
    await invited.getByText('Expired').waitFor();
    await invited.click();
    await later.getByText('The link no longer works. Another one is valid for seven days.').waitFor();
    await later.context().close();
  });

  test('a colleague joins, sees this workspace alone, and not its members', async () => {
    await openMembers();
    // The page of the ended link is still open, so only the fragment changes.
    await anns.goto(await invitationOf('ann@example.com'));
    await anns.getByLabel('Your name').fill('Ann');
    await anns.getByRole('button', { name: 'Join the workspace' }).click();
    await anns.waitForURL(/\/w\//);
    await page.getByRole('grid', { name: 'Members' }).getByText('ann@example.com').waitFor(soon);
    await page.getByRole('grid', { name: 'Open invitations' }).waitFor({ state: 'detached', ...soon });

    await anns.getByRole('button', { name: 'Default' }).click();
    const names = await anns.getByRole('menuitem').allTextContents();
    expect(names.slice(0, names.indexOf('Create workspace…'))).toEqual(['Default']);
    await anns.keyboard.press('Escape');
    await anns.goto(`${await browser.places()}/settings/members`);
    await anns.getByRole('heading', { name: 'Owners and admins see the members' }).waitFor();
    expect(await anns.content()).not.toContain('owner@localhost');
    expect(await anns.getByRole('button', { name: 'Invite people' }).count()).toBe(0);
  });

  test('a new role is on the page of the colleague within a second', async () => {
    await anns.goto(`${await browser.places()}/settings/general`);
    await anns.getByText('Your role is viewer.').waitFor();
    const panel = await openAnn();
    await panel.getByLabel('Role').selectOption('editor');
    await panel.getByRole('button', { name: 'Change role' }).click();
    await anns.getByText('Your role is editor.').waitFor(soon);
    expect(await anns.getByRole('button', { name: 'Rename' }).count()).toBe(0);
  });

  test('the last owner is not changed', async () => {
    await openMembers();
    await row('owner@localhost').click();
    const panel = page.getByRole('complementary');
    await panel.getByText('A workspace keeps an owner.').waitFor();
    expect(await panel.getByRole('button', { name: /Change role|Leave|Suspend|Remove/ }).count()).toBe(0);
    await page.goto(`${await browser.places()}/settings/general`);
    await page.getByText('You are the only owner').waitFor();
  });

  let key = '';
  let token = '';

  /** What an agent gets, with a session that it has. */
  async function statusOf(secret: string, session: string) {
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const headers = { 'mcp-protocol-version': '2025-11-25' };
    const { status, text } = await send(platform.mcpUrl, { key: secret, session, headers, body });
    return { status, text };
  }

  test('a suspended member is out at once: the page, the session of a key, and the connected agent', async () => {
    token = await agentByConsent(platform, anns, 'Agent of Ann');
    await anns.goto(`${await browser.places()}/profile/api-keys?add=true`);
    const dialog = anns.getByRole('dialog', { name: 'Create API key' });
    await dialog.getByLabel('Name').fill('laptop');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    key = (await anns.getByRole('dialog', { name: 'Key laptop' }).getByText(/^SVA_/).textContent()) ?? '';
    await anns.goto(`${await browser.places()}/settings/general`);
    await anns.getByText('Your role is editor.').waitFor();
    const ofKey = (await platform.connect(key)).session;
    const ofAgent = (await platform.connect(token)).session;
    expect([(await statusOf(key, ofKey)).status, (await statusOf(token, ofAgent)).status]).toEqual([200, 200]);

    const panel = await openAnn();
    await panel.getByRole('button', { name: 'Suspend…' }).click();
    const question = page.getByRole('dialog', { name: 'Suspend Ann' });
    await question.getByText('1 API key and 1 connected agent').waitFor();
    await question.getByRole('button', { name: 'Suspend' }).click();
    await panel.getByText('Suspended').waitFor();
    await Promise.all([
      anns.getByText('Your membership of the workspace "Default" is suspended.').waitFor(aSecond),
      expect.poll(() => statusOf(key, ofKey), aSecond).toMatchObject({ status: 403, text: /suspended/ }),
      expect.poll(() => statusOf(token, ofAgent), aSecond).toMatchObject({ status: 403, text: /suspended/ }),
    ]);

    await panel.getByRole('button', { name: 'Resume' }).click();
    await anns.getByText('Your role is editor.').waitFor(soon);
    const again = await platform.connect(key);
    expect((await again.client.listTools()).tools.length).toBeGreaterThan(0);
  });

  test('a removed member is out at once, and the question tells keys and agents apart', async () => {
    const ofKey = (await platform.connect(key)).session;
    const ofAgent = (await platform.connect(token)).session;
    const panel = await openAnn();
    await panel.getByRole('button', { name: 'Remove…' }).click();
    const question = page.getByRole('dialog', { name: 'Remove Ann' });
    await question.getByText('The key "laptop" is revoked: its agents lose access.').waitFor();
    await question.getByText('The connected agent "Agent of Ann" is cut off').waitFor();
    await question.getByLabel('API keys').selectOption({ label: 'Hand them over to owner@localhost' });
    await question.getByText('The key "laptop" goes to owner@localhost: its agents go on.').waitFor();
    await question.getByLabel('API keys').selectOption({ label: 'Revoke them' });
    await question.getByLabel('Type ann@example.com to confirm').fill('ann@example.com');
    await question.getByRole('button', { name: 'Remove member' }).click();
    await panel.waitFor({ state: 'detached' });
    const isRefused = (secret: string, session: string) => async () => (await statusOf(secret, session)).status;
    await Promise.all([
      anns.getByRole('heading', { name: 'This workspace is not yours' }).waitFor(aSecond),
      expect.poll(isRefused(key, ofKey), aSecond).toBeGreaterThanOrEqual(401),
      expect.poll(isRefused(token, ofAgent), aSecond).toBeGreaterThanOrEqual(401),
    ]);
    await row('ann@example.com').waitFor({ state: 'detached', ...soon });
  });

  test('a person in no workspace creates one, renames it, and it is told why it is closed', async () => {
    await anns.goto(browser.origin);
    await anns.getByRole('button', { name: 'Create workspace' }).click();
    await anns.getByLabel('Name').fill('Of Ann');
    await anns.keyboard.press('Enter');
    await anns.getByRole('heading', { name: 'Of Ann', level: 1 }).waitFor();
    await anns.getByRole('button', { name: 'Of Ann' }).click();
    await anns.getByRole('menuitem', { name: 'General' }).click();
    await anns.getByLabel('Name', { exact: true }).fill('Still of Ann');
    await anns.getByRole('button', { name: 'Rename' }).click();
    await anns.getByRole('button', { name: 'Still of Ann' }).waitFor(soon);
    await platform.svc('workspace', 'update', 'Still of Ann', '--suspend');
    await anns.getByText('The workspace "Still of Ann" is suspended.').waitFor(soon);
    await platform.svc('workspace', 'update', 'Still of Ann', '--resume');
    await anns.getByText('Your role is owner.').waitFor(soon);
  });

  test('runtimes: the platform’s is available, and the page says beforehand that no other can connect', async () => {
    await page.goto(`${await browser.places()}/settings/runtimes`);
    const shared = page.getByRole('grid', { name: 'Runtimes of the platform' });
    await shared.getByText('available', { exact: true }).waitFor();
    await page.getByText('An operator can move the platform').waitFor();
    expect(await page.getByRole('button', { name: 'Register runtime' }).count()).toBe(0);
    await shared.getByRole('row').nth(1).click();
    await page.getByText('It runs no MCP server of this workspace.').waitFor();
  });

  test('runtimes: a heartbeat is shown when it comes, and nothing is asked for', async () => {
    await page.goto(`${await browser.places()}/settings/runtimes`);
    const heartbeat = page.getByRole('grid', { name: 'Runtimes of the platform' }).locator('time');
    await heartbeat.waitFor();
    await page.waitForLoadState('networkidle');
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/graphql')) asked.push(request.url());
    });
    const before = await heartbeat.getAttribute('datetime');
    await expect.poll(() => heartbeat.getAttribute('datetime'), { timeout: 10_000 }).not.toBe(before);
    expect(asked).toEqual([]);
  });

  test('a long address fits into the questions about its member, on a phone', async () => {
    const email = `${'long'.repeat(15)}@${'part.'.repeat(12)}example.com`;
    await platform.run(['user', 'create', email, '--role', 'viewer']);
    await using phone = await browser.newContextOfOwner({ width: 390 });
    const looked = await phone.newPage();
    await looked.goto(`${await browser.places()}/settings/members`);
    await looked.getByRole('row').filter({ hasText: email }).click();
    for (const asked of ['Suspend…', 'Remove…']) {
      await looked.getByRole('button', { name: asked }).click();
      const question = looked.getByRole('dialog');
      await question.getByText(email).first().waitFor();
      const tooWide = '(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector("dialog"))';
      expect(await looked.evaluate(tooWide)).toBe(0);
      await looked.keyboard.press('Escape');
    }
    expect(await overflowOf(looked)).toBe(0);
  });

  test('its pages fit every width and have no barriers, light and dark', async () => {
    const member = `/settings/members?panel=${await ownMember()}`;
    for (const path of [
      ...['/settings/general', '/settings/general?add=true', '/settings/members', '/settings/members?add=true'],
      ...[member, '/settings/runtimes'],
    ]) {
      expect(await browser.flawsOf(path)).toEqual([]);
    }
  });

  async function ownMember(): Promise<string> {
    // biome-ignore lint/suspicious/noExplicitAny: the test says what it expects of it
    const answer: any = await (await platform.backend()).send(
      { text: '{ workspace(name: "Default") { members(first: 1) { nodes { id } } } }' },
      {},
    );
    return answer.workspace.members.nodes[0].id;
  }

  test('the policy refused nothing, and nothing was thrown', () => {
    expect(browser.complaints).toEqual([]);
  });
});
