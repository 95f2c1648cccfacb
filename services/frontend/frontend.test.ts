import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import type { RunningService } from '../kit/service.ts';
import { startFrontend } from './start.ts';
import { firstLoadBytes } from './test/first-load.ts';

const running: RunningService[] = [];
afterEach(async () => {
  for (const service of running.splice(0)) await service.stop();
});

async function start(env: Record<string, string> = {}): Promise<string> {
  const log = { write: () => undefined };
  const service = await startFrontend({ PORT: '0', ...env }, { hub: null, version: '1', log });
  running.push(service);
  return service.url ?? '';
}

/** The value of `window.__ENV__` for the page's script. */
function environmentIn(html: string): unknown {
  const script = /<script>window\.__ENV__=(.*?);<\/script>/.exec(html)?.[1] ?? '';
  return JSON.parse(script);
}

/** Without the decoding that fetch does. */
async function getBytes(url: string, accepted: string) {
  const request = get(url, { headers: { 'accept-encoding': accepted } });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const { 'content-encoding': encoding, etag: entityTag } = response.headers;
  return { bytes: await buffer(response), encoding, entityTag };
}

const html = async (url: string) => (await fetch(url)).text();

describe('addresses', () => {
  test('PUBLIC_BACKEND_URL overrides the build-time value', async () => {
    const url = await start({
      BUILD_PUBLIC_BACKEND_URL: 'https://build.example.com',
      PUBLIC_BACKEND_URL: 'https://api.example.com',
      PUBLIC_MCP_URL: 'https://mcp.example.com/mcp',
    });
    expect(environmentIn(await html(url))).toEqual({
      PUBLIC_BACKEND_URL: 'https://api.example.com',
      PUBLIC_MCP_URL: 'https://mcp.example.com/mcp',
    });
  });

  test('PUBLIC_MCP_KEYS_URL is told to the pages', async () => {
    const url = await start({ PUBLIC_MCP_KEYS_URL: 'https://keys.example.com/mcp' });
    expect(environmentIn(await html(url))).toMatchObject({ PUBLIC_MCP_KEYS_URL: 'https://keys.example.com/mcp' });
  });

  test('without it the build-time value is used', async () => {
    const url = await start({ BUILD_PUBLIC_BACKEND_URL: 'https://build.example.com' });
    expect(environmentIn(await html(url))).toMatchObject({ PUBLIC_BACKEND_URL: 'https://build.example.com' });
  });

  test('without both the value that the build compiled in is used', async () => {
    const page = await html(await start());
    const [, built] = /<meta name="backend" content="([^"]+)"/.exec(page) ?? [];
    expect(built).toMatch(/^https?:/);
    expect(environmentIn(page)).toMatchObject({ PUBLIC_BACKEND_URL: built });
  });

  test.each(['PUBLIC_BACKEND_URL', 'PUBLIC_MCP_URL'])('a value of %s cannot end its script element', async (name) => {
    const value = 'https://api.example.com/</script><script>alert(1)</script>';
    const page = await html(await start({ [name]: value }));
    expect(page).not.toContain('<script>alert');
    expect(environmentIn(page)).toMatchObject({ [name]: value });
  });

  test('a wrong value stops the boot by name', async () => {
    await expect(start({ PUBLIC_BACKEND_URL: 'api.example.com' })).rejects.toThrow(
      /PUBLIC_BACKEND_URL must be a full http/,
    );
  });
});

describe('the content security policy', () => {
  test('the policy allows the inline scripts by their hashes and requests to the two services only', async () => {
    const url = await start({
      PUBLIC_BACKEND_URL: 'https://api.example.com',
      PUBLIC_MCP_URL: 'https://mcp.example.com/mcp',
    });
    const response = await fetch(url);
    const scripts = [...(await response.text()).matchAll(/<script>(.*?)<\/script>/gs)].map(([, script = '']) => script);
    expect(scripts).toHaveLength(2);
    const hashes = scripts.map((script) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`);
    const policy = response.headers.get('content-security-policy')?.split('; ') ?? [];
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain(`script-src 'self' ${hashes.join(' ')}`);
    expect(policy).toContain('connect-src https://api.example.com wss://api.example.com https://mcp.example.com');
    expect(policy.join()).not.toContain('unsafe');
  });

  test('every answer has its content type and may not be framed', async () => {
    const url = await start();
    for (const path of ['/', '/health', '/nothing']) {
      const { headers } = await fetch(url + path);
      expect(headers.get('x-content-type-options'), path).toBe('nosniff');
      expect(headers.get('x-frame-options'), path).toBe('DENY');
    }
  });
});

describe('serving', () => {
  test('the page is requested each time, and its assets are kept forever', async () => {
    const url = await start();
    const page = await fetch(url);
    expect(page.headers.get('cache-control')).toBe('no-cache');
    const paths = [...(await page.text()).matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path]) => path ?? '');
    expect(new Set(paths.map((path) => path.replace(/.*\./, '')))).toEqual(new Set(['css', 'js', 'svg']));
    for (const path of paths) {
      const asset = await fetch(url + path);
      expect(asset.status, path).toBe(200);
      expect(asset.headers.get('cache-control'), path).toContain('immutable');
    }
  });

  test('every place of the application gets the same document', async () => {
    const url = await start();
    const home = await html(url);
    for (const path of ['/sign-in', '/w/wks_1/settings/mcp-servers', '/w/wks_1/settings/mcp-servers?panel=srv_1']) {
      const place = await fetch(url + path);
      expect([place.status, place.headers.get('content-type')], path).toEqual([200, 'text/html; charset=utf-8']);
      expect(await place.text(), path).toBe(home);
    }
  });

  test.each([
    ['br, gzip', 'br', brotliDecompressSync],
    ['gzip', 'gzip', gunzipSync],
    ['br;q=0, gzip', 'gzip', gunzipSync],
  ])('a browser that accepts %s gets %s', async (accepted, encoding, decode) => {
    const url = await start();
    const [, script = ''] = /src="(\/assets\/[^"]+\.js)"/.exec(await html(url)) ?? [];
    for (const path of ['/', script]) {
      const plain = await getBytes(url + path, 'identity');
      const encoded = await getBytes(url + path, accepted);
      expect([plain.encoding, encoded.encoding], path).toEqual([undefined, encoding]);
      expect(decode(encoded.bytes).equals(plain.bytes), path).toBe(true);
      expect(encoded.entityTag, path).not.toBe(plain.entityTag);
    }
  });

  test("files in the browser's cache are not sent again", async () => {
    const url = await start();
    const entityTag = (await fetch(url)).headers.get('etag') ?? '';
    const again = await fetch(url, { headers: { 'if-none-match': entityTag }, cache: 'no-store' });
    expect(again.status).toBe(304);
    expect(await again.text()).toBe('');
  });

  test('/health and /ready answer', async () => {
    const url = await start();
    expect((await fetch(`${url}/health`)).status).toBe(200);
    expect((await fetch(`${url}/ready`)).status).toBe(200);
  });

  test('HEAD has no body, other methods and paths are refused', async () => {
    const url = await start();
    const head = await fetch(url, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect((await fetch(url, { method: 'POST' })).status).toBe(405);
    for (const path of [
      '/assets/nothing',
      '/assets/nothing.js',
      '/assets',
      '/config.ts',
      '/page/page.js',
      '//',
      '/%00',
    ]) {
      expect((await fetch(url + path)).status, path).toBe(404);
    }
  });

  test('after a stop nothing listens', async () => {
    const url = await start();
    await running.splice(0)[0]?.stop();
    await expect(fetch(url)).rejects.toThrow();
  });
});

test('the first load of a place is at most 170 KB of JavaScript', async () => {
  const bytes = await firstLoadBytes('mcp-servers-page');
  expect(bytes).toBeGreaterThan(50_000);
  expect(bytes).toBeLessThanOrEqual(170_000);
});
