import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { hasChromium } from '../../../stack/test/browser.ts';
import { Platform, startTimeoutMs, testTimeoutMs } from '../../../stack/test/platform.ts';
import { barriersIn, overflowOf, patience, SignedInBrowser } from './signed-in-browser.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

/** Keeps the WebSockets of a page where a test can reach them. */
const keepSockets = `
  const sockets = [];
  window.sockets = sockets;
  const Original = WebSocket;
  window.WebSocket = class extends Original {
    constructor(...given) { super(...given); sockets.push(this); }
  };`;

describe.skipIf(!hasChromium)('a page that floods the backend with messages', () => {
  let browser: SignedInBrowser;

  beforeAll(async () => {
    browser = await SignedInBrowser.open(await Platform.start());
  }, startTimeoutMs);
  afterAll(() => browser?.[Symbol.asyncDispose](), startTimeoutMs);

  test('is told to stop, says so, and connects again only when it is reloaded', async () => {
    const page = await browser.context.newPage();
    await page.setViewportSize({ width: 390, height: 800 });
    const opened: string[] = [];
    page.on('websocket', (socket) => opened.push(socket.url()));
    await page.addInitScript(keepSockets);
    await page.goto(await browser.places());
    await expect.poll(() => page.evaluate('sockets.at(-1)?.readyState'), patience).toBe(1);
    await page.evaluate('for (let i = 0; i < 200; i++) sockets.at(-1).send(\'{"type":"ping"}\')');
    await page.getByText('Updates stopped. Reload the page.').waitFor();
    const connections = opened.length;
    // Longer than the pause before the first retries.
    await page.waitForTimeout(2500);
    expect(opened.length).toBe(connections);
    expect([await overflowOf(page), await barriersIn(page)]).toEqual([0, []]);
    await page.reload();
    await expect.poll(() => page.evaluate('sockets.at(-1)?.readyState'), patience).toBe(1);
    await page.getByText('Updates stopped').waitFor({ state: 'detached' });
    await page.close();
  });
});
