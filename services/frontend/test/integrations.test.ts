import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createMcpServerMutation } from '../../../stack/client/generated/operations.ts';
import { hasChromium } from '../../../stack/test/browser.ts';
import { Platform, startTimeoutMs, testTimeoutMs } from '../../../stack/test/platform.ts';
import { type ProtectedMcpServer, startProtectedMcpServer } from '../../backend/test/protected-mcp-server.ts';
import { barriersIn, overflowOf, patience, SignedInBrowser } from './signed-in-browser.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

describe.skipIf(!hasChromium)('integrations in Chromium', () => {
  let browser: SignedInBrowser;
  let page: Page;
  let provider: ProtectedMcpServer;

  beforeAll(async () => {
    const settings = (yaml: string) => yaml.replace('allowedAddresses: []', 'allowedAddresses: [127.0.0.1]');
    browser = await SignedInBrowser.open(await Platform.start({ settings }));
    page = browser.page;
    provider = await startProtectedMcpServer({ redirectUri: `${browser.origin}/oauth/callback` });
    const backend = await browser.platform.backend();
    const input = { name: 'crm', launch: { url: provider.url } };
    await backend.send(createMcpServerMutation, { workspace: await browser.platform.workspace(), input });
  }, startTimeoutMs);

  afterAll(async () => {
    await provider?.stop();
    await browser?.[Symbol.asyncDispose]();
  }, startTimeoutMs);

  const row = () => page.getByRole('row').filter({ hasText: 'crm' });
  const panel = () => page.getByRole('complementary', { name: 'crm' });
  const open = async (path: string) => void (await page.goto((await browser.places()) + path));

  test('an MCP server that needs authorization leads to its integration, which is connected', async () => {
    await open('/settings/mcp-servers');
    await row().getByRole('link', { name: 'Needs authorization' }).click();
    await panel().getByText('needs authorization').waitFor();
    await panel().getByText(`${browser.origin}/oauth/callback`, { exact: true }).waitFor();
    expect(await barriersIn(page)).toEqual([]);
    await panel().getByRole('button', { name: 'Connect', exact: true }).click();
    await page.waitForURL(/settings\/integrations\?panel=itg_/, patience);
    await panel().getByText('connected', { exact: true }).waitFor();
    await panel().getByText('files:read').first().waitFor();
    await open('/settings/mcp-servers');
    await expect.poll(() => row().textContent(), patience).toMatch(/Connected/);
    await row().getByRole('link').waitFor({ state: 'detached' });
  });

  test('a refusal is explained, and its code and state leave the address', async () => {
    provider.isRefused = true;
    // Signed out there, so that the provider asks the person again.
    await browser.context.clearCookies({ domain: '127.0.0.1' });
    await open('/settings/integrations');
    await row().click();
    await panel().getByRole('button', { name: 'Reconnect' }).click();
    await page.getByRole('alert').filter({ hasText: 'Authorization failed' }).waitFor();
    expect(page.url()).toBe(`${browser.origin}/oauth/callback`);
    await page.getByRole('link', { name: 'Back to the integrations' }).click();
    // The token before is still good.
    await expect.poll(() => row().textContent(), patience).toMatch(/connected/);
    provider.isRefused = false;
  });

  test('an answer that this browser did not ask for is refused', async () => {
    await page.goto(`${browser.origin}/oauth/callback?code=x&state=${await browser.platform.workspace()}.itg_x.y`);
    await page.getByRole('alert').filter({ hasText: 'this browser session began no such authorization' }).waitFor();
    expect(page.url()).toBe(`${browser.origin}/oauth/callback`);
  });

  test('a client and scopes are entered for the next connection', async () => {
    await open('/settings/integrations');
    await row().click();
    await panel().getByLabel('Client ID').fill('own');
    await panel().getByLabel('Client secret').fill('own-secret-8c21');
    await panel().getByLabel('Scopes').fill('files:read files:write');
    await panel().getByRole('button', { name: 'Save' }).click();
    await panel().getByText('entered by an admin').waitFor();
    await panel().getByRole('button', { name: 'Reconnect' }).click();
    await page.waitForURL(/settings\/integrations\?panel=itg_/, patience);
    await panel().getByText('files:read files:write').first().waitFor();
    expect(await page.content()).not.toContain('own-secret-8c21');
  });

  test('it is disconnected, and the token is revoked', async () => {
    await panel().getByRole('button', { name: 'Disconnect…' }).click();
    const question = page.getByRole('dialog');
    await question.getByRole('textbox').fill('crm');
    await question.getByRole('button', { name: 'Disconnect' }).click();
    await expect.poll(() => row().textContent(), patience).toMatch(/needs authorization/);
    expect(provider.asked).toContain('POST /token/revocation');
  });

  test('fits every width and has no barriers, light and dark', async () => {
    const path = `${await browser.places()}/settings/integrations`;
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const width of [1440, 820, 390]) {
        const context = await browser.newContextOfOwner({ colorScheme, width });
        const looked = await context.newPage();
        await looked.goto(path);
        await looked.getByRole('row').filter({ hasText: 'crm' }).click();
        await looked.getByText('Redirect URI', { exact: true }).waitFor();
        expect([width, colorScheme, await overflowOf(looked), await barriersIn(looked)]).toEqual([
          width,
          colorScheme,
          0,
          [],
        ]);
        await context.close();
      }
    }
    expect(browser.complaints).toEqual([]);
  });
});
