import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { BackendClient } from '../../../stack/client/backend-client.ts';
import { createRoleMutation, createSkillMutation } from '../../../stack/client/generated/operations.ts';
import { hasChromium } from '../../../stack/test/browser.ts';
import { foreignServers } from '../../../stack/test/foreign-servers.ts';
import { Platform, startTimeoutMs, testTimeoutMs } from '../../../stack/test/platform.ts';
import { barriersIn, patience, SignedInBrowser, soon } from './signed-in-browser.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

describe.skipIf(!hasChromium)('the roles in Chromium', () => {
  let browser: SignedInBrowser;
  let platform: Platform;
  let page: Page;
  let backend: BackendClient;
  let workspace: string;

  beforeAll(async () => {
    platform = await Platform.start();
    await platform.addServer('everything', foreignServers.everything);
    backend = await platform.backend();
    workspace = await platform.workspace();
    browser = await SignedInBrowser.open(platform);
    page = browser.page;
  }, startTimeoutMs);

  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
  }, startTimeoutMs);

  const cell = (skill: string, role: string, of = page) =>
    of.getByRole('checkbox', { name: `${skill} in ${role}`, exact: true });
  const skillsOf = async (role: string) =>
    ((await platform.svc('role', 'show', role)).skills as { name: string }[]).map(({ name }) => name).sort();

  async function openRoles(path = ''): Promise<void> {
    await page.goto(`${await browser.places()}/roles${path}`);
    await page.getByRole('heading', { name: 'Roles', exact: true }).waitFor();
  }

  async function openPanel(name: string) {
    await openRoles();
    await page.getByRole('columnheader', { name }).getByRole('button').click();
    const panel = page.getByRole('complementary', { name });
    await panel.waitFor();
    return panel;
  }

  test('an empty workspace says what a role is, and its first role opens', async () => {
    await openRoles();
    await page.getByText('No roles yet').waitFor();
    await page.keyboard.press('c');
    const dialog = page.getByRole('dialog', { name: 'Create role' });
    await dialog.getByLabel('Name').fill('no/name');
    await dialog.getByLabel('Name').blur();
    await dialog.getByText('"no/name" is not a valid name for a role').waitFor();
    await dialog.getByRole('button', { name: 'Create role' }).click();
    await dialog.getByLabel('Name').and(page.locator(':focus')).waitFor();
    await dialog.getByLabel('Name').fill('Support');
    await dialog.getByLabel('Description').fill('Answers customers');
    await dialog.getByRole('button', { name: 'Create role' }).click();
    await page.getByRole('complementary', { name: 'Support' }).waitFor();
    expect(page.url()).toMatch(/panel=rol_/);
    await page.getByText('The workspace has no skills yet.').waitFor();
  });

  test('cells change by mouse and keyboard, at once and for everybody', async () => {
    for (const name of ['echo', 'sums']) await platform.addSkill(name, [`everything/${name}`]);
    await platform.addRole('Reader', []);
    await openRoles();
    await cell('echo', 'Support').click();
    expect(await cell('echo', 'Support').isChecked()).toBe(true);
    await expect.poll(() => skillsOf('Support'), patience).toEqual(['echo']);

    await page.getByRole('grid').focus();
    // From Support, the second column.
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press(' ');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press(' ');
    expect(await cell('sums', 'Reader').isChecked()).toBe(true);
    await expect.poll(() => skillsOf('Reader'), patience).toEqual(['echo', 'sums']);
    await page.keyboard.press(' ');
    await expect.poll(() => skillsOf('Reader'), patience).toEqual(['sums']);

    await platform.svc('role', 'update', 'Support', '--add-skill', 'sums');
    await expect.poll(() => cell('sums', 'Support').isChecked(), soon).toBe(true);
    await page.keyboard.press('Enter');
    await page.getByRole('complementary', { name: 'Reader' }).waitFor();
  });

  test('a cell that is refused returns, with the reason', async () => {
    await openRoles();
    await cell('echo', 'Reader').waitFor();
    const isFirst = { value: true };
    await page.route('**/graphql', async (route) => {
      if (isFirst.value && route.request().postData()?.includes('updateRole') === true) {
        isFirst.value = false;
        await platform.svc('role', 'update', 'Reader', '--description', 'Reads');
      }
      await route.continue();
    });
    await cell('echo', 'Reader').click();
    const refusal = page.getByRole('alert').filter({ hasText: 'The role "Reader" was changed meanwhile' });
    await refusal.waitFor();
    expect(await refusal.textContent()).toContain('This page shows the present state.');
    expect(await refusal.textContent()).not.toContain('svc ');
    expect(await cell('echo', 'Reader').isChecked()).toBe(false);
    expect(await skillsOf('Reader')).toEqual(['sums']);
    await page.unroute('**/graphql');
    await cell('echo', 'Reader').click();
    await refusal.waitFor({ state: 'detached' });
    await expect.poll(() => skillsOf('Reader'), patience).toEqual(['echo', 'sums']);
  });

  test('the panel renames, disables, and limits the tools', async () => {
    const panel = await openPanel('Support');
    await panel.getByLabel('Name').fill('Helpdesk');
    await panel.getByRole('button', { name: 'Save changes' }).click();
    const renamed = page.getByRole('complementary', { name: 'Helpdesk' });
    await renamed.getByRole('button', { name: 'Disable' }).click();
    await renamed.getByRole('button', { name: 'Enable' }).waitFor();
    await page.getByRole('columnheader', { name: 'Helpdesk off' }).waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await renamed.getByRole('button', { name: 'Disable' }).waitFor();

    await renamed.getByLabel('Read-only tools only').check();
    await page.getByRole('columnheader', { name: 'Helpdesk read-only' }).waitFor();
    await renamed.getByLabel('Read-only tools only').uncheck();

    const tool = renamed.getByRole('combobox');
    await tool.fill('ech');
    await renamed.getByRole('option', { name: 'Deny everything/echo' }).click();
    await renamed.getByText('Every tool of its skills passes, except denied ones.').waitFor();
    await tool.fill('everything/get-*');
    await renamed.getByLabel('Allow', { exact: true }).check();
    await renamed.getByRole('option', { name: 'Allow everything/get-*' }).waitFor();
    await tool.press('Enter');
    await renamed.getByText('Only allowed tools pass, and denied tools never do.').waitFor();
    await tool.fill('nothing/x');
    await renamed.getByRole('option', { name: 'Allow nothing/x' }).click();
    await renamed.getByRole('alert').filter({ hasText: 'nothing' }).waitFor();

    await page.reload();
    const rules = renamed.getByRole('list', { name: 'Rules' }).getByRole('listitem');
    await expect
      .poll(async () => (await rules.allTextContents()).sort(), patience)
      .toEqual(['Alloweverything/get-*', 'Denyeverything/echo']);
    await page.getByRole('columnheader', { name: 'Helpdesk 2 rules' }).waitFor();
    await renamed.getByRole('button', { name: 'Remove rule: deny everything/echo' }).click();
    await expect.poll(() => rules.count(), patience).toBe(1);
    expect(await barriersIn(page)).toEqual([]);
  });

  test('a rule of the page hides a tool from an agent', async () => {
    const skill = (await platform.svc('skill', 'show', 'echo')).id;
    const agent = await platform.connect(await platform.addKey('agent', '--role', 'Reader'), `?skillIds=${skill}`);
    const tools = async () => (await agent.client.listTools()).tools.map(({ name }) => name);
    expect(await tools()).toContain('echo');
    const panel = await openPanel('Reader');
    await panel.getByRole('combobox').fill('everything/echo');
    await panel.getByRole('option', { name: 'Deny everything/echo' }).click();
    await expect.poll(tools, patience).not.toContain('echo');
  });

  test('removal names the keys that lose the role', async () => {
    const panel = await openPanel('Reader');
    await panel.getByText('agent', { exact: true }).waitFor();
    await panel.getByRole('button', { name: 'Remove…' }).click();
    const confirm = page.getByRole('dialog', { name: 'Remove Reader' });
    await confirm.getByText('their agents see no skills any more: agent.').waitFor();
    await confirm.getByLabel('Type Reader to confirm').fill('Reader');
    await confirm.getByRole('button', { name: 'Remove role' }).click();
    await panel.waitFor({ state: 'detached' });
    await page.getByRole('columnheader', { name: 'Reader' }).waitFor({ state: 'detached' });
  });

  test('a viewer reads', async () => {
    await platform.svc('user', 'create', 'vera@localhost', '--role', 'viewer');
    const own = await (await browser.newContext()).newPage();
    await own.goto(await browser.signInLink('vera@localhost'));
    await own.waitForURL(/\/w\//, patience);
    await own.goto(`${await browser.places()}/roles`);
    await cell('echo', 'Helpdesk', own).click({ force: true });
    expect(await cell('echo', 'Helpdesk', own).isChecked()).toBe(true);
    expect(await own.getByRole('button', { name: 'Create role' }).count()).toBe(0);
    await own.getByRole('columnheader', { name: 'Helpdesk' }).getByRole('button').click();
    const panel = own.getByRole('complementary', { name: 'Helpdesk' });
    await panel.getByText('everything/get-*').waitFor();
    expect(await panel.getByRole('button').allTextContents()).toEqual(['']);
    expect(await panel.getByLabel('Read-only tools only').isDisabled()).toBe(true);
    expect(await skillsOf('Helpdesk')).toEqual(['echo', 'sums']);
  });

  test('many roles and skills are loaded as they are needed, and found by name', async () => {
    const skills: string[] = [];
    for (let at = 0; at < 110; at += 1) {
      const input = { name: `skill-${String(at).padStart(3, '0')}` };
      skills.push((await backend.send(createSkillMutation, { workspace, input })).createSkill.id);
    }
    for (let at = 0; at < 30; at += 1) {
      const input = { name: `role-${String(at).padStart(2, '0')}`, skills };
      await backend.send(createRoleMutation, { workspace, input });
    }
    await openRoles();
    await cell('echo', 'Helpdesk').waitFor();
    await page.getByRole('grid').focus();
    await expect
      .poll(async () => {
        await page.keyboard.press('End');
        return await page.getByRole('columnheader', { name: 'role-29' }).count();
      }, patience)
      .toBe(1);
    for (let pages = 0; pages < 12; pages += 1) await page.keyboard.press('PageDown');
    await expect
      .poll(async () => {
        await page.keyboard.press('PageDown');
        return await cell('sums', 'role-29').count();
      }, patience)
      .toBe(1);
    expect(await page.getByRole('gridcell').count()).toBeLessThan(1200);
    // A row is in the document before the keys have reached it.
    await cell('sums', 'role-29').click();
    await expect.poll(async () => (await skillsOf('role-29')).includes('sums'), patience).toBe(true);
    expect(await skillsOf('role-29')).toHaveLength(111);

    await page.getByLabel('Filter roles').fill('role-07');
    await page.getByLabel('Filter skills').fill('skill-042');
    await cell('skill-042', 'role-07').waitFor();
    await expect.poll(() => page.getByRole('gridcell').count(), patience).toBe(1);
    await page.getByLabel('Filter roles').fill('nothing-like-it');
    await page.getByText('No role has a name with "nothing-like-it".').waitFor();
  });

  test('its pages fit every width and have no barriers, light and dark', async () => {
    const isThere = (looked: Page) => looked.getByRole('columnheader', { name: 'Helpdesk' }).waitFor();
    for (const path of ['/roles?add=true', '/roles?skills=nothing-like-it', '/roles']) {
      expect(await browser.flawsOf(path, isThere)).toEqual([]);
    }
  });

  test('raises no error', () => {
    expect(browser.complaints).toEqual([]);
  });
});
