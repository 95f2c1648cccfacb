import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { hasChromium } from '../../../stack/test/browser.ts';
import { Platform, startTimeoutMs, testTimeoutMs } from '../../../stack/test/platform.ts';
import { SignedInBrowser } from './signed-in-browser.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

describe.skipIf(!hasChromium)('the own account in Chromium', () => {
  let browser: SignedInBrowser;
  let platform: Platform;
  let page: Page;

  beforeAll(async () => {
    platform = await Platform.start();
    browser = await SignedInBrowser.open(platform);
    page = browser.page;
  }, startTimeoutMs);

  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
  }, startTimeoutMs);

  /** The platform has no mail server, so the link is in the log. */
  async function linkInLog(): Promise<string> {
    const { stdout } = await platform.run(['logs', 'backend', '--lines', '2000']);
    return /http:\/\/[^\s"]+\/confirm-address#token=[\w.-]+/.exec(stdout)?.[0] ?? '';
  }

  /** As after fifteen minutes without an open page. */
  async function expireAccess(): Promise<void> {
    const cookies = await browser.context.cookies();
    await browser.context.clearCookies({ name: cookies.find(({ name }) => name.endsWith('-access'))?.name ?? '' });
  }

  test('a person with an account joins another workspace, also when the access token has expired', async () => {
    await platform.svc('workspace', 'create', 'Second', '--owner-email', 'bob@example.com');
    const invite = ['user', 'invite', 'owner@localhost', '--role', 'viewer', '--workspace', 'Second'] as const;
    const { url } = await platform.svc(...invite);
    await expireAccess();
    await page.goto(url);
    await page.getByRole('button', { name: 'Join the workspace' }).click();
    await page.waitForURL(/\/w\//);
    await page.getByRole('button', { name: 'Default' }).click();
    await page.getByRole('menu').getByText('Second').waitFor();
  });

  test('a name is changed, and others see it', async () => {
    await page.goto(`${await browser.places()}/profile/account`);
    const field = page.getByLabel('Your name');
    await field.fill('Ann Łuk');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'You: Ann Łuk' }).waitFor();
    await page.goto(`${await browser.places()}/settings/members`);
    await page.getByRole('row').filter({ hasText: 'Ann Łuk' }).waitFor();
  });

  test('a new address is checked, confirmed by its link, and signs in', async () => {
    await page.goto(`${await browser.places()}/profile/account`);
    const field = page.getByLabel('New address');
    await field.fill('ann');
    await field.blur();
    await page.getByText('"ann" is not an e-mail address.').waitFor();
    await field.fill('ann@example.com');
    await page.keyboard.press('Enter');
    await page.getByRole('status').filter({ hasText: 'an operator finds the link for ann@example.com' }).waitFor();
    await page.getByText('You sign in as owner@localhost.').waitFor();
    await expireAccess();
    await page.goto(await linkInLog());
    await page.getByRole('button', { name: 'Confirm the address' }).click();
    await page.getByRole('heading', { name: 'Your address is changed' }).waitFor();
    expect(page.url()).toBe(`${browser.origin}/confirm-address`);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.waitForURL(/\/w\//);
    const stranger = await (await browser.newContext()).newPage();
    await stranger.goto(await browser.signInLink('ann@example.com'));
    await stranger.getByRole('button', { name: 'You: Ann Łuk' }).waitFor();
  });

  test('a link to a new address changes nothing for another person', async () => {
    const stranger = await (await browser.newContext()).newPage();
    await stranger.goto(await linkInLog());
    await stranger.getByRole('button', { name: 'Confirm the address' }).click();
    await stranger.getByRole('alert').filter({ hasText: 'You are not signed in' }).waitFor();
  });

  test('a passkey is named after its device', async () => {
    const device = await browser.context.newCDPSession(page);
    await device.send('WebAuthn.enable');
    await device.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true },
        ...{ isUserVerified: true, automaticPresenceSimulation: true },
      },
    });
    await page.goto(`${await browser.places()}/profile/account`);
    await page.getByRole('button', { name: 'Add passkey' }).click();
    await page.getByRole('button', { name: 'Rename Passkey 1' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('x'.repeat(65));
    await dialog.getByRole('button', { name: 'Rename' }).click();
    await dialog.getByText('must have 1 to 64 visible characters').waitFor();
    await dialog.getByLabel('Name').fill('Phone of Ann');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Rename Phone of Ann' }).waitFor();
    await dialog.waitFor({ state: 'detached' });
  });

  test('its pages fit every width and have no barriers, light and dark', async () => {
    expect(await browser.flawsOf('/profile/account')).toEqual([]);
    expect(await browser.flawsOf(`${browser.origin}/confirm-address#token=x`)).toEqual([]);
  });

  test('the policy refused nothing, and nothing was thrown', () => {
    expect(browser.complaints).toEqual([]);
  });
});
