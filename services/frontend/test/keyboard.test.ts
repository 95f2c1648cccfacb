import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { hasChromium } from '../../../stack/test/browser.ts';
import { foreignServers } from '../../../stack/test/foreign-servers.ts';
import { Platform, startTimeoutMs, testTimeoutMs } from '../../../stack/test/platform.ts';
import { PersonWithKeys } from './person-with-keys.ts';
import { SignedInBrowser, soon } from './signed-in-browser.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

const password = 'a calm sentence about tools';

/** Stories of people who use no mouse. Nothing here clicks, and nothing sets the focus but a key. */
describe.skipIf(!hasChromium)('by keys alone', () => {
  let browser: SignedInBrowser;
  let platform: Platform;
  let page: Page;
  let owner: PersonWithKeys;

  beforeAll(async () => {
    platform = await Platform.start();
    browser = await SignedInBrowser.open(platform);
    page = browser.page;
    owner = new PersonWithKeys(page);
    await browser.context.grantPermissions(['clipboard-read', 'clipboard-write']);
  }, startTimeoutMs);

  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
  }, startTimeoutMs);

  const heading = (name: string, at = page) => at.getByRole('heading', { level: 1, name, exact: true });
  const button = (name: string, at = page) => at.getByRole('button', { name, exact: true });
  const dialog = (name: string, at = page) => at.getByRole('dialog', { name, exact: true });
  const panelOf = (name: string) => page.getByRole('complementary', { name });
  const grid = (name: string) => page.getByRole('grid', { name });
  const row = (name: string) => page.getByRole('row').filter({ hasText: name });

  /** Goes to a place by its two keys. */
  async function go(keys: string, title: string): Promise<void> {
    await owner.press('g', keys);
    await heading(title).waitFor();
    await owner.isAt(heading(title));
  }

  async function invitationOf(email: string): Promise<string> {
    const backend = await platform.backend();
    const text = '{ workspace(name: "Default") { invitations { nodes { email url } } } }';
    // biome-ignore lint/suspicious/noExplicitAny: the test says what it expects of it
    const answer: any = await backend.send({ text }, {});
    return answer.workspace.invitations.nodes.find((one: { email: string }) => one.email === email).url;
  }

  test('a colleague is invited, joins, signs in with a password, gets a role, and is suspended', async () => {
    await page.goto(await browser.places());
    await heading('Default').waitFor();
    await go('e', 'Members');
    await grid('Members').waitFor();
    await owner.press('c');
    await owner.isAt(dialog('Invite people').getByLabel('E-mail addresses'));
    await owner.type('ann@example.com');
    await owner.enter(dialog('Invite people').getByRole('button', { name: 'Send invitation' }));
    await dialog('Invite people').waitFor({ state: 'detached' });
    await owner.isAt(heading('Members'));

    const anns = await (await browser.newContext()).newPage();
    const ann = new PersonWithKeys(anns);
    await anns.goto(await invitationOf('ann@example.com'));
    await ann.to(anns.getByLabel('Your name'));
    await ann.type('Ann');
    await ann.press('Enter');
    await anns.waitForURL(/\/w\//);
    await heading('Default', anns).waitFor();
    await ann.press('g', 'p');
    await ann.to(anns.getByLabel('New password'));
    await ann.type(password);
    await ann.press('Enter');
    await button('Change password', anns).waitFor();
    await ann.enter(button('You: Ann', anns));
    await ann.press('ArrowUp', 'Enter');
    await heading('Sign in', anns).waitFor();
    await ann.to(anns.getByLabel('E-mail', { exact: true }));
    await ann.type('ann@example.com');
    await ann.press('Tab');
    await ann.type(password);
    await ann.press('Enter');
    await anns.waitForURL(/\/w\//);
    await heading('Default', anns).waitFor();

    await owner.to(grid('Members'));
    await owner.press('End', 'Enter');
    const panel = panelOf('Ann');
    await owner.isAt(panel);
    await owner.to(panel.getByLabel('Role'));
    await owner.type('editor');
    await owner.enter(panel.getByRole('button', { name: 'Change role' }));
    await row('Ann').getByText('editor').waitFor(soon);
    await owner.isAt(panel.getByLabel('Role'));
    await owner.enter(panel.getByRole('button', { name: 'Suspend…' }));
    await owner.enter(dialog('Suspend Ann').getByRole('button', { name: 'Suspend' }));
    await panel.getByText('Suspended').waitFor();
    await owner.isAt(panel.getByRole('button', { name: 'Resume' }));
    await owner.press('Escape');
    await owner.isAt(grid('Members'));
    await anns.getByText('Your membership of the workspace "Default" is suspended.').waitFor();
    await anns.context().close();
  });

  test('an MCP server is added by JSON, looked at, tried, disabled, and enabled', async () => {
    await go('m', 'MCP servers');
    await owner.press('c');
    await owner.isAt(page.getByLabel('Command, address or JSON'));
    const [command = '', ...args] = foreignServers.everything;
    await page.keyboard.insertText(JSON.stringify({ mcpServers: { everything: { command, args } } }));
    await owner.enter(dialog('Add MCP server').getByRole('button', { name: 'Add MCP server' }));
    const panel = panelOf('everything');
    await panel.getByText('Connected', { exact: true }).waitFor();
    await owner.isAt(panel);
    await owner.to(panel.getByRole('tab', { name: 'Overview' }));
    await owner.press('ArrowRight');
    await owner.isAt(panel.getByRole('tab', { name: 'Tools' }));
    await owner.enter(panel.getByRole('button', { name: 'Try echo' }));
    await owner.to(panel.getByLabel('message', { exact: true }));
    await owner.type('by keys');
    await owner.press('Enter');
    await panel.getByText('Echo: by keys').waitFor();
    await owner.to(panel.getByRole('tab', { name: 'Tools' }), 'Shift+Tab');
    await owner.press('ArrowRight');
    await owner.to(panel.getByLabel('Command or address'));
    await owner.to(panel.getByRole('tab', { name: 'Configuration' }), 'Shift+Tab');
    await owner.press('Home');
    await owner.enter(panel.getByRole('button', { name: 'Disable' }));
    await panel.getByText('Disconnected', { exact: true }).waitFor();
    await owner.isAt(panel.getByRole('button', { name: 'Enable' }));
    await owner.press('Enter');
    await panel.getByText('Connected', { exact: true }).waitFor();
    await owner.isAt(panel.getByRole('button', { name: 'Disable' }));
    await owner.press('Escape');
    await panel.waitFor({ state: 'detached' });
    await owner.isAt(heading('MCP servers'));
  });

  test('a skill is found, its instructions are written, and a role gets it with a rule', async () => {
    await platform.addSkill('greet', ['everything/echo']);
    await platform.addSkill('sum', ['everything/get-sum']);
    await platform.addRole('Greeters', []);
    await go('s', 'Skills');
    await row('sum').waitFor();
    await owner.press('/');
    await owner.isAt(page.getByLabel('Search skills'));
    await owner.type('gre');
    await row('sum').waitFor({ state: 'detached' });
    await row('greet').waitFor();
    await owner.press('Escape');
    await owner.isAt(grid('Skills'));
    expect(await page.getByLabel('Search skills').inputValue()).toBe('gre');
    await owner.press('Enter');
    await owner.isAt(heading('greet'));
    await owner.enter(button('Edit instructions'));
    await owner.isAt(page.getByLabel('Text in Markdown'));
    await owner.type('# Greet kindly');
    await owner.to(button('Preview'), 'Shift+Tab');
    await owner.press('Enter');
    await page.getByRole('heading', { name: 'Greet kindly' }).waitFor();
    await owner.press('Control+s');
    await owner.isAt(button('Edit instructions'));

    await go('r', 'Roles');
    const cell = page.getByRole('checkbox', { name: 'greet in Greeters', exact: true });
    await owner.to(grid('Skills of roles'));
    await owner.press(' ');
    await expect.poll(() => cell.isChecked(), soon).toBe(true);
    await owner.press('Enter');
    const panel = panelOf('Greeters');
    await owner.isAt(panel);
    await owner.to(panel.getByRole('combobox'));
    await owner.type('echo');
    await panel.getByRole('option', { name: 'Deny everything/echo' }).waitFor();
    await owner.press('Enter');
    await owner.to(panel.getByRole('button', { name: 'Remove rule: deny everything/echo' }), 'Shift+Tab');
    await owner.press('Enter');
    await panel.getByRole('list', { name: 'Rules' }).waitFor({ state: 'detached' });
    await owner.isAt(panel.locator(':focus'));
    await owner.press('Escape');
    await owner.isAt(grid('Skills of roles'));
  });

  test('a key is made, copied, rotated, explained, and revoked', async () => {
    await go('k', 'API keys');
    await owner.press('c');
    await owner.isAt(page.getByLabel('Name', { exact: true }));
    await owner.type('laptop');
    await owner.enter(dialog('Create API key').getByRole('button', { name: 'Create key' }));
    const shown = dialog('Key laptop');
    const secret = (await shown.getByText(/^SVA_/).textContent()) ?? '';
    await owner.enter(shown.getByRole('button', { name: 'Copy' }).first());
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(secret);
    await owner.to(shown.getByRole('tab').first());
    await owner.press('ArrowLeft');
    await expect.poll(() => shown.getByRole('tab').last().getAttribute('aria-selected')).toBe('true');
    await owner.enter(shown.getByRole('button', { name: 'Done' }));
    await shown.waitFor({ state: 'detached' });
    await owner.isAt(heading('API keys'));

    await owner.to(grid('API keys'));
    await owner.press('Enter');
    const panel = panelOf('laptop');
    await owner.isAt(panel);
    await owner.to(panel.getByRole('tab', { name: 'Key' }));
    await owner.press('ArrowRight');
    await panel.getByText(/can use \d of \d skill/).waitFor();
    await owner.press('ArrowLeft');
    await owner.enter(panel.getByRole('button', { name: 'Rotate…' }));
    await owner.enter(dialog('Rotate laptop').getByRole('button', { name: 'Rotate key' }));
    await owner.enter(shown.getByRole('button', { name: 'Done' }));
    await owner.isAt(panel);
    await owner.enter(panel.getByRole('button', { name: 'Revoke the old key…' }));
    const question = dialog('Revoke laptop');
    await owner.isAt(question.getByRole('textbox'));
    await owner.type('laptop');
    await owner.press('Enter');
    await question.waitFor({ state: 'detached' });
    await panel.getByRole('button', { name: 'Rotate…' }).waitFor();
    await owner.isAt(panel.getByRole('button', { name: 'Rotate…' }));
    await owner.enter(panel.getByRole('button', { name: 'Revoke…' }));
    await owner.type('laptop');
    await owner.press('Enter');
    await page.getByText('No API keys yet').waitFor();
    await owner.isAt(button('Create key').first());
  });

  test('the palette finds, goes, switches the theme and the workspace', async () => {
    await platform.svc('workspace', 'create', 'Other', '--owner-email', 'owner@localhost');
    await go('s', 'Skills');
    await owner.press('Control+k');
    const search = page.getByRole('combobox', { name: 'Search' });
    await owner.isAt(search);
    await owner.press('Escape');
    await owner.isAt(heading('Skills'));
    for (const [typed, name] of [
      ['roles', /^Roles/],
      // The role has another first letter.
      ['greet', /^greet/],
    ] as const) {
      await owner.press('Control+k');
      await owner.isAt(search);
      await owner.type(typed);
      await expect.poll(() => page.getByRole('option', { name }).getAttribute('aria-selected')).toBe('true');
      await owner.press('Enter');
      await owner.isAt(page.getByRole('heading', { level: 1, name }));
    }
    await owner.press('Control+k');
    await owner.isAt(search);
    await owner.type('theme: dark');
    await owner.press('Enter');
    await expect.poll(() => page.evaluate('document.documentElement.className')).toBe('dark');
    await owner.isAt(heading('greet'));
    await owner.press('Control+k');
    await owner.isAt(search);
    await owner.type('switch to other');
    await page.getByRole('option', { name: 'Switch to Other' }).waitFor();
    await owner.press('Enter');
    await owner.isAt(heading('Other'));

    await owner.to(button('Other'));
    await owner.press('Enter');
    await owner.isAt(page.getByRole('menuitem').first());
    await owner.press('Escape');
    await owner.isAt(button('Other'));
    await owner.press('ArrowDown', 'd', 'Enter');
    await owner.isAt(heading('Default'));
    await owner.press('?');
    await dialog('Keyboard shortcuts').waitFor();
    await owner.press('Escape');
    await owner.isAt(heading('Default'));
  });

  test('nothing was refused by the policy, and nothing was thrown', () => {
    expect(browser.complaints).toEqual([]);
  });
});
