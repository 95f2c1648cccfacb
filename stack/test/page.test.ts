import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Browser, hasChromium } from './browser.ts';
import { Platform, startTimeoutMs, testTimeoutMs } from './platform.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

const soon = { timeout: 20_000, interval: 50 };

describe.skipIf(!hasChromium)('the page in Chromium', () => {
  let platform: Platform;
  let page: Browser;

  beforeAll(async () => {
    platform = await Platform.init();
    await platform.up();
    for (const name of ['one', 'two']) await platform.run(['server', 'add', name, '--', 'false']);
    page = await Browser.open(`http://localhost:${platform.ports.frontend}/connect`);
  }, startTimeoutMs);
  afterAll(async () => {
    await page?.[Symbol.asyncDispose]();
    await platform?.[Symbol.asyncDispose]();
  }, startTimeoutMs);

  const textOf = (selector: string) => page.valueOf(`document.querySelector('${selector}')?.innerText.trim() ?? ''`);
  /** The colour of a dot at the moment at which its words change: green, amber and red are the colours of the states. */
  const colourOf = (selector: string) =>
    page.valueOf(`getComputedStyle(document.querySelector('${selector} .state i')).backgroundColor`);
  const colourNamed = (name: string) =>
    page.valueOf(`(() => {
      const one = document.body.appendChild(document.createElement('i'));
      one.style.background = 'var(--${name}-9)';
      return getComputedStyle(one).backgroundColor;
    })()`);

  test('does not say that all is well while MCP servers are in Error', async () => {
    const { mcpServers } = JSON.parse((await platform.run(['status', '--json'])).stdout);
    expect(mcpServers.map(({ status }: { status: string }) => status)).toEqual(['Error', 'Error']);
    await expect.poll(() => textOf('#overall'), soon).toBe('Backend and remote MCP server work');
    const whole = String(await textOf('body'));
    expect(whole).not.toMatch(/\ball\b.*\b(work|well|healthy)\b/i);
    expect(whole).toMatch(
      /Runtimes and MCP servers[\s\S]*Open your workspace\s+to see their states, and why one does not work/,
    );
  });

  test('shows each state with its colour at once', async () => {
    await expect.poll(() => textOf('#backend .state'), soon).toBe('healthy');
    expect(await textOf('#remote-mcp .state')).toBe('answers');
    const green = await colourNamed('green');
    expect(await colourOf('#backend')).toBe(green);
    const durations = `[...document.querySelectorAll('.state i')].map((dot) => getComputedStyle(dot).transitionDuration)`;
    expect(new Set((await page.valueOf(durations)) as string[])).toEqual(new Set(['0s']));
  });

  test('shows a backend that is gone as down', async () => {
    // The page stays in the browser, as at a person who has it open.
    await platform.svc('down');
    await expect.poll(() => textOf('#overall'), soon).toBe('A service is down');
    expect(await textOf('#backend .state')).toBe('down');
    expect(await colourOf('#backend')).toBe(await colourNamed('red'));
  });
});
