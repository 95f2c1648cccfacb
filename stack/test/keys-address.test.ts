import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { ping, send } from '../../services/remote-mcp/test/raw.ts';
import { replaceScalar } from '../settings/yaml-text.ts';
import { Platform, startTimeoutMs, testTimeoutMs } from './platform.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

/** A platform whose keys have an address of their own, on a machine alone. */
describe('the address for keys alone', () => {
  let platform: Platform;
  let keysUrl: string;
  let oauthUrl: string;
  let key: string;

  beforeAll(async () => {
    platform = await Platform.start({ settings: (yaml) => replaceScalar(yaml, ['publicUrls', 'keys'], 'auto') });
    keysUrl = `http://127.0.0.1:${platform.ports['remote-mcp']}/mcp`;
    oauthUrl = `http://localhost:${platform.ports['remote-mcp']}/mcp`;
    key = await platform.addKey('agent');
  }, startTimeoutMs);
  afterAll(() => platform[Symbol.asyncDispose](), startTimeoutMs);

  /** A client that looks for OAuth before it sends its key, and drops the key if it finds an address. */
  async function asCursor(url: string): Promise<number> {
    const { headers } = await send(url, { body: ping });
    const places = ['oauth-protected-resource/mcp', 'oauth-protected-resource', 'oauth-authorization-server'];
    const found = await Promise.all(
      places.map(async (place) => (await fetch(new URL(`/.well-known/${place}`, url), { redirect: 'manual' })).status),
    );
    const isOauth = /resource_metadata=/.test(headers.get('www-authenticate') ?? '') || found.some((one) => one < 400);
    return (await send(url, isOauth ? { body: ping } : { key, body: ping })).status;
  }

  test('lets a client use its key that would ignore it at the other address', async () => {
    expect(await asCursor(oauthUrl)).toBe(401);
    expect(await asCursor(keysUrl)).toBe(200);
    expect((await send(oauthUrl, { key, body: ping })).status).toBe(200);
  });

  test('is the address of svc status, svc connect and the pages', async () => {
    expect((await platform.svc('status')).urls).toMatchObject({ mcp: oauthUrl, keys: keysUrl });
    const shown = await platform.run(['status']);
    expect(shown.stdout).toContain(`  keys  ${keysUrl}      agents with an API key connect here\n`);
    expect((await platform.svc('connect', '--client', 'cursor')).snippet).toContain(`"url": "${keysUrl}"`);
    const page = await (await fetch(`http://localhost:${platform.ports.frontend}`)).text();
    expect(page).toContain(`"PUBLIC_MCP_URL":"${oauthUrl}","PUBLIC_MCP_KEYS_URL":"${keysUrl}"`);
  });

  test('is what svc keys test tests, without a notice', async () => {
    const { code, stdout } = await platform.run(['keys', 'test', '--json'], { env: { SVC_API_KEY: key } });
    const { rungs } = JSON.parse(stdout);
    expect([code, rungs.find(({ name }: { name: string }) => name === 'authentication')]).toMatchObject([
      0,
      { mark: 'passed', detail: 'the key is valid' },
    ]);
  });

  test('is the platform itself to svc server import', async () => {
    const file = join(platform.folder, 'mcp.json');
    const [asKeys, asOauth] = [{ url: keysUrl }, { url: oauthUrl }];
    await writeFile(file, JSON.stringify({ mcpServers: { asKeys, asOauth } }));
    const { stdout, stderr } = await platform.run(['server', 'import', file, '--yes']);
    expect((stdout + stderr).match(/it is this platform/g)).toHaveLength(2);
  });
});
