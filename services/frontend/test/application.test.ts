import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { hasChromium } from '../../../stack/test/browser.ts';
import { foreignServers } from '../../../stack/test/foreign-servers.ts';
import { Platform, startTimeoutMs, testTimeoutMs } from '../../../stack/test/platform.ts';
import { barriersIn, overflowOf, patience, SignedInBrowser, soon } from './signed-in-browser.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

const away = { message: 'The graph is away.', extensions: { code: 'unavailable' } };

describe.skipIf(!hasChromium)('the application in Chromium', () => {
  let browser: SignedInBrowser;
  let platform: Platform;
  let page: Page;

  beforeAll(async () => {
    platform = await Platform.start();
    await platform.addServer('everything', foreignServers.everything);
    browser = await SignedInBrowser.open(platform);
    page = browser.page;
  }, startTimeoutMs);

  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
  }, startTimeoutMs);

  async function openServers(): Promise<void> {
    await page.goto(`${await browser.places()}/settings/mcp-servers`);
    await row('everything').waitFor();
  }

  const row = (name: string) => page.getByRole('row').filter({ hasText: name });

  test('a link signs in once, and its token leaves the address', async () => {
    const link = await browser.signInLink();
    const first = await (await browser.newContext()).newPage();
    await first.goto(link);
    await first.waitForURL(/\/w\//);
    expect(await first.evaluate('window.location.hash')).toBe('');
    await first.goBack().catch(() => null);
    expect(first.url()).not.toContain('token');

    const second = await (await browser.newContext()).newPage();
    await second.goto(link);
    await second.getByRole('alert').waitFor();
    expect(second.url()).toBe(`${browser.origin}/sign-in`);
    expect(await second.evaluate('document.cookie')).toBe('');
  });

  test('a link that is pasted on the open page of sign-in signs in', async () => {
    const other = await (await browser.newContext()).newPage();
    await other.goto(`${browser.origin}/sign-in`);
    await other.getByRole('heading', { name: 'Sign in' }).waitFor();
    await other.goto(await browser.signInLink());
    await other.waitForURL(/\/w\//);
  });

  test('a link for another person asks before it replaces who is signed in', async () => {
    await platform.run(['user', 'create', 'guest@example.com', '--role', 'viewer']);
    const link = await browser.signInLink('guest@example.com');
    const shared = await (await browser.newContext()).newPage();
    await shared.goto(await browser.signInLink());
    await shared.waitForURL(/\/w\//);
    await shared.goto(link);
    await shared.getByText('You are signed in as owner@localhost, and the link is for guest@example.com.').waitFor();
    await shared.getByRole('button', { name: 'Stay signed in' }).click();
    await shared.getByRole('button', { name: 'You: owner' }).waitFor();
    await shared.goto(link);
    await shared.getByRole('button', { name: 'Sign in by the link' }).click();
    await shared.getByRole('button', { name: 'You: guest' }).waitFor();
  });

  test('an answer that is not of the backend is an error, and another try gets one', async () => {
    const other = await (await browser.newContext()).newPage();
    const headers = { 'access-control-allow-origin': browser.origin, 'access-control-allow-credentials': 'true' };
    await other.route('**/account/ways', (route) =>
      route.request().method() === 'POST'
        ? route.fulfill({ status: 200, headers, contentType: 'text/html', body: '<h1>Log in to the network</h1>' })
        : route.continue(),
    );
    await other.goto(`${browser.origin}/sign-in`);
    await other.getByRole('alert').filter({ hasText: 'does not answer' }).waitFor(patience);
    await other.unroute('**/account/ways');
    await other.getByRole('button', { name: 'Try again' }).click();
    await other.getByLabel('Password').waitFor(patience);
  });

  test('a refusal of the external provider is explained, and no other text of the address is shown', async () => {
    const other = await (await browser.newContext()).newPage();
    await other.goto(`${browser.origin}/sign-in?refused=unknown_address`);
    await other.getByRole('alert').filter({ hasText: 'No account here has the e-mail address' }).waitFor();
    await other.goto(`${browser.origin}/sign-in?refused=Call+this+number`);
    await other.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await other.content()).not.toContain('Call this number');
  });

  test('a place opens after sign-in, and an address of another site does not', async () => {
    const path = new URL(`${await browser.places()}/settings/mcp-servers`).pathname;
    const stranger = await (await browser.newContext()).newPage();
    await stranger.goto(browser.origin + path);
    await stranger.waitForURL(/\/sign-in/);
    expect(new URL(stranger.url()).searchParams.get('back')).toBe(path);
    await stranger.goto((await browser.signInLink()).replace('#', `?back=${encodeURIComponent(path)}#`));
    await stranger.waitForURL(browser.origin + path);

    for (const elsewhere of ['//example.invalid/', '/\\example.invalid/', 'https://example.invalid/']) {
      const victim = await (await browser.newContext()).newPage();
      await victim.goto((await browser.signInLink()).replace('#', `?back=${encodeURIComponent(elsewhere)}#`));
      await victim.waitForURL(/\/w\//);
      expect(new URL(victim.url()).origin).toBe(browser.origin);
    }
  });

  test('shows MCP servers as they change, without asking at intervals', async () => {
    await openServers();
    await expect.poll(() => row('everything').textContent(), soon).toMatch(/Connected[\s\S]*healthy/);
    await platform.run(['server', 'add', 'failing', '--', 'false']);
    await row('failing').waitFor(soon);
    await expect.poll(() => row('failing').textContent(), soon).toMatch(/Error[\s\S]*exit code 1/);

    let asked = 0;
    page.on('request', (request) => {
      if (request.url().endsWith('/graphql')) asked += 1;
    });
    await platform.svc('server', 'remove', 'failing', '--yes');
    await row('failing').waitFor({ state: 'detached', ...soon });
    const askedMeanwhile = async () => {
      const before = asked;
      await page.waitForTimeout(3000);
      return asked - before;
    };
    await expect.poll(askedMeanwhile, patience).toBe(0);
  });

  test('the keyboard reaches rows, panel, places and search', async () => {
    await openServers();
    await page.getByRole('grid').focus();
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    await page.keyboard.press('Enter');
    const panel = page.getByRole('complementary', { name: 'everything' });
    await panel.waitFor();
    expect(page.url()).toMatch(/panel=srv_/);
    for (const key of ['Tab', 'Tab', 'ArrowRight']) await page.keyboard.press(key);
    await panel.getByText('get-sum').waitFor();
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });
    expect(await page.evaluate(`document.activeElement.getAttribute('role')`)).toBe('grid');

    await page.keyboard.press('/');
    await page.keyboard.type('nothing-like-it');
    await page.getByText('No match').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('g');
    await page.keyboard.press('h');
    await page.waitForURL(await browser.places());
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await page.keyboard.press('Escape');

    // The second key of a sequence is no key of the place.
    await page.keyboard.press('g');
    await page.keyboard.press('k');
    await page.getByRole('heading', { name: 'API keys', exact: true }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('c');
    await page.getByRole('heading', { name: 'Connected agents', exact: true }).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);

    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').waitFor();
    await page.keyboard.type('every');
    await page.getByRole('option', { name: 'everything' }).waitFor();
    await page.keyboard.press('Enter');
    await panel.waitFor();
    await page.reload();
    await panel.waitFor();
  });

  test('adds, disables, enables and removes an MCP server', async () => {
    await openServers();
    await page.keyboard.press('c');
    const dialog = page.getByRole('dialog', { name: 'Add MCP server' });
    await dialog.waitFor();
    await page.keyboard.insertText(foreignServers.everything.join(' '));
    const name = dialog.getByLabel('Name', { exact: true });
    await name.fill('not a name');
    await name.blur();
    await dialog.getByText('"not a name" is not a valid name for an MCP server').waitFor();
    await dialog.getByRole('button', { name: 'Add MCP server' }).click();
    await name.and(page.locator(':focus')).waitFor();
    await name.fill('everything');
    await dialog.getByRole('button', { name: 'Add MCP server' }).click();
    await dialog.getByRole('alert').filter({ hasText: 'everything' }).waitFor();
    await name.fill('second');
    await dialog.getByLabel('Environment variables').fill('GREETING=hello\nAPI_TOKEN=of-great-worth');
    await dialog.getByRole('button', { name: 'Add MCP server' }).click();

    const panel = page.getByRole('complementary', { name: 'second' });
    await panel.getByText('Connected').waitFor();
    await panel.getByText('GREETING=hello').waitFor();
    await panel.getByText('API_TOKEN=[secret]').waitFor();
    expect(await page.content()).not.toContain('of-great-worth');
    await panel.getByRole('button', { name: 'Disable' }).click();
    await panel.getByRole('button', { name: 'Enable' }).waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await panel.getByRole('button', { name: 'Disable' }).waitFor();
    await panel.getByText('Connected').waitFor();

    await panel.getByRole('button', { name: 'Remove…' }).click();
    const confirm = page.getByRole('dialog', { name: 'Remove second' });
    const remove = confirm.getByRole('button', { name: 'Remove MCP server' });
    await confirm.getByLabel('Type second to confirm').fill('secon');
    await remove.click();
    await confirm.getByText('This is not "second".').waitFor();
    await confirm.getByLabel('Type second to confirm').fill('second');
    await remove.click();
    await panel.waitFor({ state: 'detached' });
    await row('second').waitFor({ state: 'detached' });
  });

  test('a password that is set signs in, and a wrong one does not', async () => {
    await page.goto(`${await browser.places()}/profile/account`);
    await page.getByText('Only a link signs you in so far.').waitFor();
    const password = 'a sentence that nobody guesses';
    await page.getByLabel('New password').fill('too short');
    await page.getByLabel('New password').blur();
    await page.getByText('A password must have 10 to 200 characters').waitFor();
    await page.getByLabel('New password').fill(password);
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.getByRole('button', { name: 'Change password' }).waitFor();
    expect(await page.content()).not.toContain(password);
    const other = await (await browser.newContext()).newPage();
    await other.goto(`${browser.origin}/sign-in`);
    await other.getByLabel('E-mail').fill('owner@localhost');
    await other.getByLabel('Password').fill('another sentence');
    await other.getByRole('button', { name: 'Sign in', exact: true }).click();
    await other.getByRole('alert').filter({ hasText: /./ }).waitFor();
    await other.getByLabel('Password').fill(password);
    await other.getByRole('button', { name: 'Sign in', exact: true }).click();
    await other.waitForURL(/\/w\//);
  });

  test('creates a key, shows it once, and revokes it', async () => {
    await page.goto(await browser.places());
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('k');
    await page.getByRole('heading', { name: 'API keys', exact: true }).waitFor();
    await page.keyboard.press('c');
    const dialog = page.getByRole('dialog', { name: 'Create API key' });
    await dialog.waitFor();
    await page.keyboard.type('agent-of-ann');
    await page.keyboard.press('Enter');
    const shown = page.getByRole('dialog', { name: 'Key agent-of-ann' });
    const key = (await shown.getByText(/^SVA_/).textContent()) ?? '';
    const agent = await platform.connect(key);
    expect((await agent.client.listTools()).tools.length).toBeGreaterThan(0);
    await shown.getByRole('button', { name: 'Done' }).click();
    await row('agent-of-ann').waitFor();
    await page.reload();
    await row('agent-of-ann').waitFor();
    expect(await page.content()).not.toContain(key);

    await row('agent-of-ann').click();
    const panel = page.getByRole('complementary', { name: 'agent-of-ann' });
    await panel.getByRole('button', { name: 'Revoke…' }).click();
    const confirm = page.getByRole('dialog', { name: 'Revoke agent-of-ann' });
    await confirm.getByLabel('Type agent-of-ann to confirm').fill('agent-of-ann');
    await confirm.getByRole('button', { name: 'Revoke key' }).click();
    await row('agent-of-ann').waitFor({ state: 'detached', ...soon });
    await expect(agent.client.listTools()).rejects.toThrow();
  });

  test('a passkey of the device signs in', async () => {
    const made = await browser.newContext();
    const own = await made.newPage();
    const device = await made.newCDPSession(own);
    await device.send('WebAuthn.enable');
    await device.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true },
        ...{ isUserVerified: true, automaticPresenceSimulation: true },
      },
    });
    await own.goto(await browser.signInLink());
    await own.waitForURL(/\/w\//);
    await own.goto(`${await browser.places()}/profile/account`);
    await own.getByRole('button', { name: 'Add passkey' }).click();
    const refusal = own.getByRole('alert');
    await own.getByText('Passkey 1').or(refusal).waitFor();
    expect(await refusal.allTextContents()).toEqual([]);
    await made.clearCookies();
    await own.goto(`${browser.origin}/sign-in`);
    await own.getByRole('button', { name: 'Use a passkey' }).click();
    await own.waitForURL(/\/w\//);
    await own.goto(`${await browser.places()}/profile/account`);
    await own.getByRole('button', { name: 'Remove Passkey 1' }).click();
    await own.getByText('Passkey 1').waitFor({ state: 'detached' });
  });

  test('a browser that was left signed in is signed out from another one', async () => {
    const left = await (await browser.newContext()).newPage();
    await left.goto(await browser.signInLink());
    await left.waitForURL(/\/w\//);
    await page.goto(`${await browser.places()}/profile/account`);
    await page.getByText('this browser').waitFor();
    const others = page.getByRole('button', { name: /^Sign out Chrome/ });
    const before = await others.count();
    await others.first().click();
    await expect.poll(() => others.count(), soon).toBe(before - 1);
    await left.waitForURL(/\/sign-in/, soon);
  });

  test('an invited person joins by the link of the mail', async () => {
    const { url } = await platform.svc('user', 'invite', 'ann@example.com', '--role', 'editor');
    const invited = await (await browser.newContext()).newPage();
    await invited.goto(url);
    await invited.getByRole('heading', { name: 'Join Default' }).waitFor();
    expect(invited.url()).toBe(`${browser.origin}/invitation`);
    await invited.getByText('ann@example.com').waitFor();
    await invited.getByLabel('Your name').fill('Ann Łuk');
    await invited.getByRole('button', { name: 'Join the workspace' }).click();
    await invited.waitForURL(/\/w\//);
    await invited.getByRole('button', { name: 'You: Ann Łuk' }).waitFor();
    await invited.goto(url);
    await invited.getByRole('alert').filter({ hasText: 'The invitation is not valid' }).waitFor();
  });

  test('an agent is connected by consent, works, and is disconnected', async () => {
    const backend = `http://localhost:${platform.ports.backend}`;
    const mcpUrl = `http://localhost:${platform.ports['remote-mcp']}/mcp`;
    const answered = Promise.withResolvers<URLSearchParams>();
    const agentServer = createServer((request, response) => {
      answered.resolve(new URL(request.url ?? '', mcpUrl).searchParams);
      response.end('Done.');
    });
    await new Promise<void>((resolve) => agentServer.listen(0, '127.0.0.1', resolve));
    const callback = `http://127.0.0.1:${(agentServer.address() as AddressInfo).port}/callback`;
    const registration = {
      client_name: 'Helpful agent',
      redirect_uris: [callback],
      token_endpoint_auth_method: 'none',
    };
    const registered = await fetch(`${backend}/connect/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(registration),
    });
    const { client_id: client } = (await registered.json()) as { client_id: string };
    const verifier = 'v'.repeat(50);
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const asked = { client_id: client, redirect_uri: callback, resource: mcpUrl };
    const query = {
      ...asked,
      response_type: 'code',
      state: 's',
      code_challenge: challenge,
      code_challenge_method: 'S256',
    };

    await page.goto(`${backend}/connect/authorize?${new URLSearchParams(query)}`);
    await page.getByRole('heading', { name: 'Connect Helpful agent?' }).waitFor();
    await page.getByText('It is a program on this computer').waitFor();
    expect(await barriersIn(page)).toEqual([]);
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    const answer = await answered.promise;
    await page.getByText('Done.').waitFor();
    agentServer.close();
    const code = answer.get('code') ?? '';
    const form = { ...asked, grant_type: 'authorization_code', code, code_verifier: verifier };
    const token = await fetch(`${backend}/connect/token`, { method: 'POST', body: new URLSearchParams(form) });
    const { access_token: access } = (await token.json()) as { access_token: string };
    const agent = await platform.connect(access);
    expect((await agent.client.listTools()).tools.length).toBeGreaterThan(0);

    await page.goto(`${await browser.places()}/profile/connected-agents`);
    await row('Helpful agent').click();
    const panel = page.getByRole('complementary', { name: 'Helpful agent' });
    await panel.getByRole('button', { name: 'Disconnect…' }).click();
    const confirm = page.getByRole('dialog', { name: 'Disconnect Helpful agent' });
    await confirm.getByLabel('Type Helpful agent to confirm').fill('Helpful agent');
    await confirm.getByRole('button', { name: 'Disconnect' }).click();
    await page.getByText('No connected agents').waitFor();
    await expect(agent.client.listTools()).rejects.toThrow();
  });

  test('an expired token is refreshed once, and the place stays', async () => {
    await openServers();
    const cookies = await browser.context.cookies();
    const access = cookies.filter(({ name }) => name.endsWith('-access'));
    expect(access).toHaveLength(1);
    await browser.context.clearCookies({ name: access[0]?.name ?? '' });
    const refreshes: string[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/account/refresh')) refreshes.push(request.url());
    });
    await page.reload();
    await row('everything').waitFor();
    expect(page.url()).toContain('/settings/mcp-servers');
    expect(refreshes).toHaveLength(1);
  });

  test('a refusal that arrives after the refresh refreshes nothing again', async () => {
    await openServers();
    await page.getByText('Reconnecting…').waitFor({ state: 'detached' });
    const [access] = (await browser.context.cookies()).filter(({ name }) => name.endsWith('-access'));
    await browser.context.clearCookies({ name: access?.name ?? '' });
    const answers: number[] = [];
    page.on('response', (response) => {
      if (response.url().endsWith('/account/refresh')) answers.push(response.status());
    });
    let refusals = 0;
    await page.route(/\/graphql$/, async (route) => {
      const response = await route.fetch();
      if (response.status() === 401 && ++refusals === 1) await expect.poll(() => answers.length, patience).toBe(1);
      await route.fulfill({ response });
    });
    // A change asks again for everything on the page at once.
    await platform.run(['server', 'add', 'late', '--', 'false']);
    await row('late').waitFor(soon);
    await expect.poll(() => refusals, patience).toBeGreaterThan(1);
    await page.waitForLoadState('networkidle');
    expect(answers).toEqual([204]);
    await page.unrouteAll({ behavior: 'wait' });
    await platform.svc('server', 'remove', 'late', '--yes');
  });

  test('a lost connection is shown, and the data stay and catch up', async () => {
    await openServers();
    await platform.svc('down');
    await page.getByText('Reconnecting…').waitFor();
    expect(await row('everything').isVisible()).toBe(true);
    const size = page.viewportSize() ?? { width: 1440, height: 900 };
    await page.setViewportSize({ ...size, width: 390 });
    expect(await overflowOf(page)).toBe(0);
    await page.setViewportSize(size);
    await platform.up();
    await platform.run(['server', 'add', 'meanwhile', '--', 'false']);
    await row('meanwhile').waitFor({ timeout: 30_000 });
    await page.getByText('Reconnecting…').waitFor({ state: 'detached' });
    await platform.svc('server', 'remove', 'meanwhile', '--yes');
  });

  test.each([
    [
      'with a last message',
      (id: string) => [
        { id, type: 'next', payload: { errors: [away] } },
        { id, type: 'complete' },
      ],
    ],
    ['with a refusal', (id: string) => [{ id, type: 'error', payload: [away] }]],
  ])('a subscription that the backend ends %s is begun again', async (_how, endOf) => {
    const followed = await browser.context.newPage();
    let ended = 0;
    await followed.routeWebSocket(/\/graphql$/, (socket) => {
      const backend = socket.connectToServer();
      socket.onMessage((text) => {
        const { type, id } = JSON.parse(String(text));
        if (type !== 'subscribe' || ended === 2) return backend.send(text);
        ended += 1;
        for (const message of endOf(id)) socket.send(JSON.stringify(message));
      });
    });
    await followed.goto(`${await browser.places()}/settings/mcp-servers`);
    await followed.getByText('Reconnecting…').waitFor();
    await expect.poll(() => ended, patience).toBe(2);
    await followed.getByText('Reconnecting…').waitFor({ state: 'detached' });
    await platform.run(['server', 'add', 'after', '--', 'false']);
    await followed.getByRole('row').filter({ hasText: 'after' }).waitFor(soon);
    await platform.svc('server', 'remove', 'after', '--yes');
    await followed.close();
  });

  test('its pages fit every width and have no barriers, light and dark', async () => {
    for (const path of [
      '',
      '/settings/mcp-servers',
      '/settings/mcp-servers?add=true',
      '/profile/api-keys',
      '/profile/connected-agents',
      '/profile/account',
      '/profile/appearance',
    ]) {
      expect(await browser.flawsOf(path)).toEqual([]);
    }
  });

  test.each(['light', 'dark'] as const)('has no barriers for a stranger, in %s', async (colorScheme) => {
    const stranger = await (await browser.newContext({ colorScheme })).newPage();
    for (const path of ['/sign-in', '/connect', '/invitation#token=x']) {
      await stranger.goto(browser.origin + path);
      await stranger.getByRole('heading', { level: 1 }).waitFor();
      await stranger.waitForTimeout(400);
      expect(await barriersIn(stranger), path).toEqual([]);
    }
  });

  test('the chosen theme is there before the first paint, after a reload', async () => {
    await page.goto(`${await browser.places()}/profile/appearance`);
    await page.getByLabel('Dark').check();
    await page.addInitScript(`addEventListener('DOMContentLoaded', () => {
      window.firstTheme = document.documentElement.className;
    })`);
    await page.reload();
    expect(await page.evaluate('window.firstTheme')).toBe('dark');
    await page.getByLabel('As the system has it').check();
    expect(await page.evaluate('document.documentElement.className')).toBe('');
  });

  test('signs out', async () => {
    await page.goto(await browser.places());
    await page.getByRole('button', { name: /^You: / }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.waitForURL(`${browser.origin}/sign-in`);
    await page.goto(await browser.places());
    await page.waitForURL(/\/sign-in\?back=/);
  });

  test('the policy refused nothing, and nothing was thrown', () => {
    expect(browser.complaints).toEqual([]);
  });
});
