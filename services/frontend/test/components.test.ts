import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { describe, expect, test, vi } from 'vitest';
import { startPagesServer } from '../../../.config/bundle/pages-server.ts';
import { chromiumPath, hasChromium } from '../../../stack/test/browser.ts';
import { repository } from '../../../stack/test/foreign-servers.ts';
import { readPage } from '../page.ts';
import { barriersIn, overflowOf } from './signed-in-browser.ts';

vi.setConfig({ testTimeout: 120_000 });

const source = readFileSync(join(repository, 'services/frontend/pages/components-page.tsx'), 'utf8');

test('the page of components has every building block', () => {
  const files = globSync('*.tsx', { cwd: join(repository, 'services/frontend/components') });
  expect(files.filter((file) => !source.includes(`'../components/${file}'`))).toEqual([]);
});

test('the build has no page of components', async () => {
  const { assets } = await readPage({ backendUrl: null, mcpUrl: 'http://localhost/mcp', keysUrl: null });
  const paths = [...assets.keys()];
  expect(paths.some((path) => path.includes('skills-page'))).toBe(true);
  expect(paths.filter((path) => path.includes('components-page'))).toEqual([]);
  for (const [path, { body }] of assets) expect([path, body.includes('/dev/components')]).toEqual([path, false]);
});

describe.skipIf(!hasChromium)('the page of components in Chromium', () => {
  test('has no barriers that axe finds, in both themes and on a phone', async () => {
    await using ends = new AsyncDisposableStack();
    const server = await startPagesServer(repository, { port: 0 });
    ends.defer(() => server.close());
    const browser = await chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox'] });
    ends.defer(() => browser.close());
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    page.setDefaultTimeout(60_000);
    const thrown: string[] = [];
    page.on('pageerror', (error) => thrown.push(String(error)));
    const folder = process.env.SVC_TEST_SCREENS;
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await page.goto(`${server.resolvedUrls?.local[0]}dev/components`);
    await page.getByRole('heading', { name: 'Components' }).waitFor();
    await page.getByRole('row').nth(2).waitFor();
    for (const width of [1440, 820, 390]) {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme });
        await page.waitForTimeout(400);
        if (folder !== undefined) {
          await page.screenshot({ path: join(folder, `components-${width}-${colorScheme}.png`), fullPage: true });
        }
        expect(await barriersIn(page), `${colorScheme} at ${width}`).toEqual([]);
        expect(await overflowOf(page), `${colorScheme} at ${width}`).toBe(0);
      }
    }
    expect(thrown).toEqual([]);
  });
});
