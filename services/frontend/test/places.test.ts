import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { hasChromium } from '../../../stack/test/browser.ts';
import { Platform, startTimeoutMs, testTimeoutMs } from '../../../stack/test/platform.ts';
import { SignedInBrowser } from './signed-in-browser.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

describe.skipIf(!hasChromium)('the places in Chromium', () => {
  let browser: SignedInBrowser;
  let page: Page;

  beforeAll(async () => {
    browser = await SignedInBrowser.open(await Platform.start());
    page = browser.page;
  }, startTimeoutMs);

  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
  }, startTimeoutMs);

  const focused = () => page.evaluate('document.activeElement.textContent');

  test('settings and profile have a navigation of their own, and home has none', async () => {
    await page.goto(await browser.places());
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await page.getByRole('navigation', { name: 'Settings' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Default' }).click();
    await page.getByRole('menuitem', { name: 'MCP servers' }).click();
    const settings = page.getByRole('navigation', { name: 'Settings' });
    await settings.getByRole('link', { name: 'MCP servers', exact: true }).waitFor();
    expect(await settings.getByRole('link', { name: 'API keys' }).count()).toBe(0);
    await page.getByRole('button', { name: /^You: / }).click();
    await page.getByRole('menuitem', { name: 'API keys' }).click();
    await page.getByRole('navigation', { name: 'Profile' }).getByRole('link', { name: 'Account' }).waitFor();
    await page.getByRole('link', { name: 'Home' }).click();
    await page.waitForURL(await browser.places());
  });

  test('title and focus follow the place', async () => {
    await page.goto(`${await browser.places()}/settings/mcp-servers`);
    await page.getByRole('heading', { name: 'MCP servers', exact: true }).waitFor();
    expect(await page.title()).toBe('MCP servers · Default');
    expect(await page.evaluate('document.activeElement.tagName')).toBe('BODY');
    await page.keyboard.press('g');
    await page.keyboard.press('k');
    await expect.poll(focused).toBe('API keys');
    expect(await page.title()).toBe('API keys · Default');
    await page.getByRole('button', { name: /^You: / }).click();
    await page.keyboard.type('acc');
    await page.keyboard.press('Home');
    await page.keyboard.press('Enter');
    await expect.poll(focused).toBe('Account');
  });

  test('the first key leads over the navigation to the content', async () => {
    await page.goto(`${await browser.places()}/profile/appearance`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('Tab');
    await expect.poll(focused).toBe('Skip to content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('content');
  });

  test('a menu is used by keys, and gives the focus back', async () => {
    const button = page.getByRole('button', { name: /^You: / });
    await button.focus();
    await page.keyboard.press('ArrowDown');
    await expect.poll(focused).toBe('Account');
    await page.keyboard.press('ArrowUp');
    expect(await focused()).toBe('Sign out');
    await page.keyboard.press('t');
    await page.keyboard.press('Escape');
    await page.getByRole('menu').waitFor({ state: 'detached' });
    expect(await page.evaluate(`document.activeElement.getAttribute('aria-haspopup')`)).toBe('menu');
    await button.click();
    await page.getByRole('menu').waitFor();
    await button.click();
    await page.getByRole('menu').waitFor({ state: 'detached' });
    await button.click();
    await page.getByRole('heading', { level: 1 }).click();
    await page.getByRole('menu').waitFor({ state: 'detached' });
  });

  test('a phone has four places in its bar and the others behind it', async () => {
    const phone = await (await browser.newContextOfOwner({ width: 390 })).newPage();
    await phone.goto(await browser.places());
    const bar = phone.getByRole('navigation', { name: 'Places' });
    await bar.getByRole('link', { name: 'MCP servers' }).click();
    await phone.getByRole('heading', { name: 'MCP servers', exact: true }).waitFor();
    await bar.getByRole('button', { name: 'More' }).click();
    expect(await phone.getByRole('menuitem', { name: 'API keys' }).count()).toBe(0);
    await phone.getByRole('menuitem', { name: 'Appearance' }).click();
    await phone.getByRole('heading', { name: 'Appearance' }).waitFor();
  });

  test('nothing was refused by the policy, and nothing was thrown', () => {
    expect(browser.complaints).toEqual([]);
  });
});
