import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request as ask, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Platform, startTimeoutMs, testTimeoutMs } from './platform.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

/** A folder that `.ci/mcp-clients` has filled. */
const installed = process.env.SVC_TEST_MCP_CLIENTS ?? '';
const program = join(installed, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');

/** The scenarios of the suite that need neither tools of certain names nor resources and prompts. */
const scenarios = [
  ...['server-initialize', 'server-session-lifecycle', 'ping', 'logging-set-level', 'tools-list'],
  ...['dns-rebinding-protection', 'server-sse-multiple-streams'],
];

describe.skipIf(installed === '')('the conformance suite of MCP', () => {
  let platform: Platform;
  let url: string;
  const proxy = createServer();

  beforeAll(async () => {
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const origin = `http://localhost:${(proxy.address() as AddressInfo).port}`;
    url = `${origin}/mcp`;
    // The suite also asks as a page of the address itself.
    platform = await Platform.start({ settings: (yaml) => yaml.replace('  agents: []', `  agents: [${origin}]`) });
    const key = await platform.addKey('conformance');
    const to = { host: '127.0.0.1', port: platform.ports['remote-mcp'] };
    // The suite sends no key. Host and Origin arrive as it wrote them.
    proxy.on('request', (request, response) => {
      const { method, url: path, headers } = request;
      const sent = ask({ ...to, method, path, headers: { ...headers, authorization: `Bearer ${key}` } }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      response.once('close', () => sent.destroy());
      sent.once('error', () => response.destroy());
      request.pipe(sent);
    });
  }, startTimeoutMs);
  afterAll(async () => {
    proxy.closeAllConnections();
    proxy.close();
    await platform[Symbol.asyncDispose]();
  }, startTimeoutMs);

  test.each(scenarios)('%s', async (scenario) => {
    const args = [program, 'server', '--url', url, '--scenario', scenario, '--spec-version', '2025-11-25'];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const [said, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
    expect([code, code === 0 ? '' : said]).toEqual([0, '']);
    expect(said).toMatch(/Passed: [1-9]\d*\/\d+, 0 failed/);
  });
});
