import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { replaceScalar } from '../../../stack/settings/yaml-text.ts';
import { hasChromium } from '../../../stack/test/browser.ts';
import { Platform, startTimeoutMs, testTimeoutMs } from '../../../stack/test/platform.ts';
import { clientId, clientSecret, startOpenidProvider, type TestProvider } from '../../backend/test/openid-provider.ts';
import { patience, SignedInBrowser } from './signed-in-browser.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

describe.skipIf(!hasChromium)('a sign-in by a provider in Chromium', () => {
  let provider: TestProvider;
  let browser: SignedInBrowser;

  beforeAll(async () => {
    const platform = await Platform.init();
    const { ports, installation } = platform;
    provider = await startOpenidProvider(`http://localhost:${ports.backend}/account/provider/callback`);
    const yaml = await readFile(installation.definitionFile, 'utf8');
    const chosen = Object.entries({ name: 'Acme', issuer: provider.issuer, clientId });
    const edited = chosen.reduce(
      (text, [name, value]) => replaceScalar(text, ['signIn', 'provider', name], value),
      yaml,
    );
    await writeFile(installation.definitionFile, edited);
    await writeFile(join(installation.secretsDir, 'sign-in-provider.key'), clientSecret, { mode: 0o600 });
    await platform.up();
    browser = await SignedInBrowser.open(platform);
  }, startTimeoutMs);
  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
    await provider.stop();
  }, startTimeoutMs);

  /** The address to which an agent sends a person. */
  async function requestOfAgent(): Promise<string> {
    const backend = `http://localhost:${browser.platform.ports.backend}`;
    const redirect = 'http://127.0.0.1:7777/callback';
    const registered = await fetch(`${backend}/connect/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ client_name: 'My agent', redirect_uris: [redirect] }),
    });
    const { client_id: client } = (await registered.json()) as { client_id: string };
    const pkce = { code_challenge: 'c'.repeat(43), code_challenge_method: 'S256' };
    const query = { client_id: client, redirect_uri: redirect, response_type: 'code', state: 's', ...pkce };
    return `${backend}/connect/authorize?${new URLSearchParams(query)}`;
  }

  test('a person who signs in by the provider for an agent comes back to its consent, also after a refusal', async () => {
    const page = await (await browser.newContext()).newPage();
    await page.goto(await requestOfAgent());
    await page.waitForURL(/\/sign-in\?/);
    const back = new URL(page.url()).searchParams.get('back') ?? '';
    expect(back).toMatch(/^\/connect\//);

    provider.person = null;
    await page.getByRole('button', { name: 'Continue with Acme' }).click();
    await page.waitForURL(/refused=/);
    await page.getByRole('alert').waitFor();

    provider.person = { subject: 'ann', email: 'owner@localhost', isVerified: true };
    await page.getByRole('button', { name: 'Continue with Acme' }).click();
    await page.waitForURL(new RegExp(`${back}$`), patience);
    await page.getByRole('button', { name: 'Connect', exact: true }).waitFor();
    expect(await page.content()).toContain('My agent');
    expect(browser.complaints).toEqual([]);
  });
});
