import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createMcpServerMutation } from '../../../stack/client/generated/operations.ts';
import { hasChromium } from '../../../stack/test/browser.ts';
import { foreignServers } from '../../../stack/test/foreign-servers.ts';
import { Platform, startTimeoutMs, testTimeoutMs } from '../../../stack/test/platform.ts';
import { SignedInBrowser } from './signed-in-browser.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

describe.skipIf(!hasChromium)('MCP servers in Chromium', () => {
  let browser: SignedInBrowser;
  let page: Page;

  beforeAll(async () => {
    browser = await SignedInBrowser.open(await Platform.start());
    page = browser.page;
  }, startTimeoutMs);

  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
  }, startTimeoutMs);

  test('a required setting is missing, is set, and is never shown', async () => {
    const { platform } = browser;
    const [command = '', ...args] = foreignServers.everything;
    const settings = [
      { name: 'TOKEN', title: 'Access token', description: 'From the account page of the service.' },
      { name: 'LEVEL', secret: false, required: false },
      { name: 'LONG_'.padEnd(250, 'X'), required: false },
    ];
    const backend = await platform.backend();
    const { createMcpServer } = await backend.send(createMcpServerMutation, {
      workspace: await platform.workspace(),
      input: { name: 'everything', launch: { command, args, settings } },
    });
    const path = `/settings/mcp-servers?panel=${createMcpServer.id}`;
    await page.goto((await browser.places()) + path);
    const panel = page.getByRole('complementary', { name: 'everything' });
    await panel.getByText('the required setting env.TOKEN has no value').waitFor();
    const isThere = (looked: Page) => looked.getByLabel('Access token (TOKEN)').waitFor();
    expect(await browser.flawsOf(path, isThere)).toEqual([]);

    const save = panel.getByRole('button', { name: 'Save settings' });
    expect(await save.isDisabled()).toBe(true);
    await panel.getByLabel('Access token (TOKEN)').fill('of-great-worth');
    await panel.getByLabel('LEVEL').fill('low');
    await save.click();
    await panel.getByText('Connected', { exact: true }).waitFor();
    await panel.getByText('It has a value.').waitFor();
    await panel.getByText('TOKEN=[secret]').waitFor();
    await panel.getByText('LEVEL=low').waitFor();
    expect(await panel.getByLabel('Access token (TOKEN)').inputValue()).toBe('');
    expect(await page.content()).not.toContain('of-great-worth');

    await panel.getByRole('button', { name: 'Remove the value of TOKEN' }).click();
    await panel.getByText('Its value is removed when you save.').waitFor();
    await save.click();
    await panel.getByText('the required setting env.TOKEN has no value').waitFor();
    await panel.getByText('LEVEL=low').waitFor();
    expect(browser.complaints).toEqual([]);
  });

  test('a form that cannot be loaded says so in its place, and opens once it can', async () => {
    const code = /\/assets\/add-mcp-server-/;
    await page.route(code, (route) => route.abort());
    await page.goto(`${await browser.places()}/settings/mcp-servers`);
    await page.getByRole('button', { name: 'Add MCP server' }).first().click();
    const failure = page.getByRole('main').getByRole('alert');
    await failure.getByText('A part of this page could not be loaded.').waitFor();
    await page.getByRole('navigation').first().waitFor();
    await page.unroute(code);
    await failure.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('dialog', { name: 'Add MCP server' }).waitFor();
    await page.keyboard.press('Escape');
  });

  test('one that fails says why and when it is tried again, and is repaired, stopped and started in its panel', async () => {
    const script = "console.error('no such luck'); process.exit(1)";
    const launch = { command: process.execPath, args: ['-e', script], env: { KEY: 'of-great-worth' } };
    // The person's own, so that the person may keep its secret.
    await page.goto(`${await browser.places()}/settings/mcp-servers?add=true`);
    await page.getByLabel('Command, address or JSON').fill(JSON.stringify({ mcpServers: { unlucky: launch } }));
    await page.getByRole('button', { name: 'Add MCP server' }).last().click();
    const panel = page.getByRole('complementary', { name: 'unlucky' });
    await panel.getByText('Error', { exact: true }).waitFor();
    await panel.getByText(/^Retry (in \d+:\d\d|now)\.$/).waitFor();
    await panel.getByText('no such luck').last().waitFor();

    await panel.getByRole('tab', { name: 'Configuration' }).click();
    expect(page.url()).toContain('tab=Configuration');
    const isThere = (looked: Page) => looked.getByLabel('Command or address').waitFor();
    expect(await browser.flawsOf(page.url(), isThere)).toEqual([]);
    const save = panel.getByRole('button', { name: 'Save changes' });
    expect(await save.isDisabled()).toBe(true);
    await panel.getByLabel('Command or address').fill('"open');
    await panel.getByText('A quotation mark in the command is not closed.').waitFor();
    await save.click();
    await panel.getByLabel('Command or address').and(page.locator(':focus')).waitFor();
    await panel.getByLabel('Command or address').fill(foreignServers.everything.join(' '));
    await panel.getByRole('button', { name: 'Add', exact: true }).click();
    await panel.getByLabel('Name', { exact: true }).last().fill('LOG');
    await panel.getByLabel('Value', { exact: true }).fill('debug');
    await panel.getByLabel('Start within (seconds)').fill('0x');
    await save.click();
    await panel.getByLabel('Start within (seconds)').and(page.locator(':focus')).waitFor();
    await panel.getByLabel('Start within (seconds)').fill('120');
    await save.click();
    await panel.getByRole('tab', { name: 'Overview' }).click();
    await panel.getByText('Connected', { exact: true }).waitFor();
    await panel.getByText('KEY=[secret]').waitFor();
    await panel.getByText('LOG=debug').waitFor();
    await panel.getByText('bwrap (a member set the launch)').waitFor();
    expect(await panel.getByText(/^Retry /).count()).toBe(0);
    expect(await page.content()).not.toContain('of-great-worth');

    await panel.getByRole('button', { name: 'Disable' }).click();
    await panel.getByText('Disconnected', { exact: true }).waitFor();
    await panel.getByText('Enable it in the panel of the MCP server.').waitFor();
    await panel.getByRole('button', { name: 'Enable' }).click();
    await panel.getByText('Connected', { exact: true }).waitFor();
    await panel.getByRole('tab', { name: 'Tools' }).click();
    await panel.getByText('get-tiny-image').waitFor();
    await page.reload();
    expect(await panel.getByRole('tab', { name: 'Tools' }).getAttribute('aria-selected')).toBe('true');
    expect(browser.complaints).toEqual([]);
  });
});
