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

  test('the policy refused nothing, and nothing was thrown', () => {
    expect(browser.complaints).toEqual([]);
  });
});
