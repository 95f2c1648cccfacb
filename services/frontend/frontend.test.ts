import { createHash } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import { clients } from '../contracts/clients/clients.ts';
import type { RunningService } from '../kit/service.ts';
import { startFrontend } from './start.ts';

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

  test('without it the build-time value is used', async () => {
    const url = await start({ BUILD_PUBLIC_BACKEND_URL: 'https://build.example.com' });
    expect(environmentIn(await html(url))).toMatchObject({ PUBLIC_BACKEND_URL: 'https://build.example.com' });
  });

  test('a value cannot end its script element', async () => {
    const url = await start({ PUBLIC_BACKEND_URL: 'https://api.example.com/</script><script>alert(1)</script>' });
    const page = await html(url);
    expect(page).not.toContain('<script>alert');
    expect(environmentIn(page)).toMatchObject({
      PUBLIC_BACKEND_URL: 'https://api.example.com/</script><script>alert(1)</script>',
    });
  });

  test('a wrong value stops the boot by name', async () => {
    await expect(start({ PUBLIC_BACKEND_URL: 'api.example.com' })).rejects.toThrow(
      /PUBLIC_BACKEND_URL must be a full http/,
    );
  });
});

describe('how to connect an agent', () => {
  const clientsIn = (page: string): { title: string; about: string; text: string }[] =>
    JSON.parse(/<script type="application\/json" id="clients">(.*?)<\/script>/s.exec(page)?.[1] ?? '');

  test('the page has a snippet for every client, with the address for agents and no key', async () => {
    const url = await start({ PUBLIC_MCP_URL: 'https://mcp.example.com/mcp' });
    const shown = clientsIn(await html(url));
    expect(shown.map(({ title }) => title)).toEqual(clients.map(({ title }) => title));
    for (const { title, text, about } of shown) {
      expect(text, title).toContain('https://mcp.example.com/mcp');
      expect(text, title).toMatch(/SVC_API_KEY|SVA_…|\$\{input:/);
      expect(about, title).not.toBe('');
    }
  });

  test('an address cannot end its script element', async () => {
    const page = await html(
      await start({ PUBLIC_MCP_URL: 'https://mcp.example.com/</script><script>alert(1)</script>' }),
    );
    expect(page).not.toContain('<script>alert');
    expect(clientsIn(page)).toHaveLength(clients.length);
  });
});

describe('the content security policy', () => {
  test('the policy allows the inline script by its hash and requests to the two services only', async () => {
    const url = await start({
      PUBLIC_BACKEND_URL: 'https://api.example.com',
      PUBLIC_MCP_URL: 'https://mcp.example.com/mcp',
    });
    const response = await fetch(url);
    const script = /<script>(.*?)<\/script>/s.exec(await response.text())?.[1] ?? '';
    const hash = createHash('sha256').update(script).digest('base64');
    const policy = response.headers.get('content-security-policy')?.split('; ') ?? [];
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain(`script-src 'self' 'sha256-${hash}'`);
    expect(policy).toContain('connect-src https://api.example.com https://mcp.example.com');
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
    for (const path of ['/nothing', '/assets/../config.ts', '/page/page.js', '//', '/%00']) {
      expect((await fetch(url + path)).status, path).toBe(404);
    }
  });

  test('after a stop nothing listens', async () => {
    const url = await start();
    await running.splice(0)[0]?.stop();
    await expect(fetch(url)).rejects.toThrow();
  });
});
