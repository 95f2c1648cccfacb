import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createMcpServerMutation } from '../../../stack/client/generated/operations.ts';
import { hasChromium } from '../../../stack/test/browser.ts';
import { foreignServers } from '../../../stack/test/foreign-servers.ts';
import { Platform, startTimeoutMs, testTimeoutMs } from '../../../stack/test/platform.ts';
import { barriersIn, overflowOf, SignedInBrowser } from './signed-in-browser.ts';

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
    for (const width of [1440, 820, 390]) {
      for (const colorScheme of ['light', 'dark'] as const) {
        await using made = await browser.newContextOfOwner({ colorScheme, width });
        const looked = await made.newPage();
        await looked.goto((await browser.places()) + path);
        await looked.getByLabel('Access token (TOKEN)').waitFor();
        await looked.waitForTimeout(400);
        expect(await barriersIn(looked), `${colorScheme} at ${width}`).toEqual([]);
        expect(await overflowOf(looked), `${colorScheme} at ${width}`).toBe(0);
      }
    }

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
});
