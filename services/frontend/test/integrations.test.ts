import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createMcpServerMutation } from '../../../stack/client/generated/operations.ts';
import type { Agent } from '../../../stack/test/agent.ts';
import { hasChromium } from '../../../stack/test/browser.ts';
import { Platform, startTimeoutMs, testTimeoutMs } from '../../../stack/test/platform.ts';
import { type ProtectedMcpServer, startProtectedMcpServer } from '../../backend/test/protected-mcp-server.ts';
import { barriersIn, patience, SignedInBrowser } from './signed-in-browser.ts';

/** The platform renews a token half a minute after it got it, at the soonest. */
const untilExpired = { timeout: 50_000 };

vi.setConfig({ testTimeout: testTimeoutMs });

describe.skipIf(!hasChromium)('integrations in Chromium', () => {
  let browser: SignedInBrowser;
  let page: Page;
  let provider: ProtectedMcpServer;
  let agent: Agent;

  beforeAll(async () => {
    const settings = (yaml: string) => yaml.replace('allowedAddresses: []', 'allowedAddresses: [127.0.0.1]');
    browser = await SignedInBrowser.open(await Platform.start({ settings }));
    page = browser.page;
    provider = await startProtectedMcpServer({ redirectUri: `${browser.origin}/oauth/callback` });
    provider.lifetime = 20;
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

  test('an agent’s call reaches the MCP server with the token', async () => {
    const { platform } = browser;
    const skill = await platform.addSkill('customers', ['crm/whoami']);
    await platform.addRole('Support', ['customers']);
    agent = await platform.connect(await platform.addKey('agent'), `?skillIds=${skill}`);
    expect(await agent.text('whoami')).toBe('ada');
    const [token = ''] = provider.callTokens;
    expect(await provider.knows(token)).toBe(true);
    // From now on the service renews no token.
    Object.assign(provider, { tokenStatus: 400, tokenError: 'invalid_grant' });
  });

  test('a client with another redirect URI is refused by the provider, and the panel has said which to register', async () => {
    await open('/settings/integrations');
    await row().click();
    await panel().getByLabel('Client ID').fill('of-another-platform');
    await panel().getByLabel('Client secret').fill('its-secret-51bb');
    await panel().getByRole('button', { name: 'Save' }).click();
    await panel().getByText('entered by an admin').waitFor();
    await panel().getByText('If the provider says “Invalid redirect URI”', { exact: false }).waitFor();
    await panel().getByRole('button', { name: 'Reconnect' }).click();
    await page.getByText('invalid_redirect_uri').waitFor();
    expect(page.url()).toContain(provider.issuer);
    await page.goBack();
    await panel().getByLabel('Client ID').fill('');
    await panel().getByRole('button', { name: 'Save' }).click();
    await panel().getByText('entered by an admin').waitFor({ state: 'detached' });
  });

  test('a token that the service does not renew expires, and Reconnect lets the agent work again', async () => {
    const tokensBefore = new Set(provider.callTokens);
    await open('/settings/integrations');
    await expect.poll(() => row().textContent(), untilExpired).toMatch(/expired.*Reconnect/s);
    await expect(agent.text('whoami')).rejects.toThrow();
    await open('/settings/mcp-servers');
    await row().getByRole('link', { name: 'Needs authorization' }).click();
    provider.tokenStatus = null;
    provider.lifetime = 600;
    await panel().getByRole('button', { name: 'Reconnect' }).click();
    await page.waitForURL(/settings\/integrations\?panel=itg_/, patience);
    await panel().getByText('connected', { exact: true }).waitFor();
    await expect.poll(() => agent.text('whoami').catch(String), patience).toBe('ada');
    const token = provider.callTokens.at(-1) ?? '';
    expect([tokensBefore.has(token), await provider.knows(token)]).toEqual([false, true]);
    expect(await page.content()).not.toContain(token);
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

  test('the command line shows it, and leads a person to it', async () => {
    const { platform } = browser;
    const { integrations } = await platform.svc('integration', 'list');
    expect(integrations).toEqual([
      expect.objectContaining({ name: 'crm', state: 'connected', issuer: provider.issuer }),
    ]);
    const { stdout } = await platform.run(['integration', 'show', 'crm']);
    expect(stdout).toMatch(/^state +connected$/m);
    expect(stdout).toContain(`${browser.origin}/oauth/callback`);
    const { url } = await platform.svc('integration', 'connect', 'crm');
    await page.goto(url);
    await panel().getByRole('button', { name: 'Reconnect' }).waitFor();
    expect(await platform.fails('integration', 'disconnect', 'crm')).toMatchObject({ code: 2 });
    expect(await platform.fails('integration', 'show', 'other')).toMatchObject({ code: 1 });
    expect(JSON.stringify(integrations) + stdout).not.toMatch(/own-secret-8c21|refresh_token/);
  });

  test('the command line changes its client and scopes, and keeps the secret to itself', async () => {
    const { platform } = browser;
    const update = (...words: string[]) => platform.svc('integration', 'update', 'crm', ...words);
    const file = join(platform.folder, 'client-secret');
    await writeFile(file, 'typed-secret-77aa\n');
    expect(await update('--client-id', 'svc', '--client-secret-file', file, '--scope', 'files:read')).toMatchObject({
      ...{ name: 'crm', changed: ['scopes', 'client'] },
    });
    await panel().getByText('entered by an admin').waitFor();
    const shown = await platform.svc('integration', 'show', 'crm');
    expect(shown).toMatchObject({ client: 'own', clientId: 'svc', wantedScopes: ['files:read'], state: 'connected' });
    expect(await update('--client-id', 'svc')).toMatchObject({ changed: ['client'] });
    expect(await update('--platform-client', '--default-scopes')).toMatchObject({ changed: ['scopes', 'client'] });
    await panel().getByText('entered by an admin').waitFor({ state: 'detached' });
    await writeFile(file, '\n');
    for (const wrong of [
      [],
      ['--client-id', 'svc', '--client-secret-file', file],
      ['--client-secret-file', file],
      ['--client-id', 'svc', '--platform-client'],
      ['--scope', 'a', '--default-scopes'],
      ['--scope', 'two words'],
    ]) {
      const { code } = await platform.fails('integration', 'update', 'crm', ...wrong);
      expect([wrong, code]).toEqual([wrong, 2]);
    }
    expect(JSON.stringify([shown, platform.printed])).not.toContain('typed-secret-77aa');
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
    const openCrm = async (looked: Page) => {
      await looked.getByRole('row').filter({ hasText: 'crm' }).click();
      await looked.getByText('Redirect URI', { exact: true }).waitFor();
    };
    expect(await browser.flawsOf('/settings/integrations', openCrm)).toEqual([]);
    expect(browser.complaints).toEqual([]);
  });
});
