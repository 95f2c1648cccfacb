import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { constantTools } from '../../services/contracts/constant-tools.ts';
import { repository } from './foreign-servers.ts';
import { Platform, startTimeoutMs, testTimeoutMs } from './platform.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

/** A folder that `.ci/mcp-clients` has filled. */
const installed = process.env.SVC_TEST_MCP_CLIENTS ?? '';
const demo = join(repository, 'templates/demo/server.mjs');
const wrongKey = 'SVA_wrong';
const refusal = /The API key has the wrong length/;

/** A program in `clients/` for each client, and the folder with its Python packages. */
const clients: Readonly<Record<string, { readonly program: string; readonly python?: string }>> = {
  'MCP Inspector': { program: 'inspector.mjs' },
  'mcp-remote': { program: 'mcp-remote.mjs' },
  'the AI SDK': { program: 'ai-sdk.mjs' },
  'the Python SDK': { program: 'python-sdk.py', python: 'python' },
  FastMCP: { program: 'fastmcp.py', python: 'python' },
  'the OpenAI Agents SDK': { program: 'openai-agents.py', python: 'python-1' },
  LangChain: { program: 'langchain.py', python: 'python-1' },
};

const otherRefusals: Readonly<Record<string, RegExp>> = {
  // It shows nothing but the status.
  'the OpenAI Agents SDK': /HTTP error 401/,
};

describe.skipIf(installed === '')('an MCP client that others wrote', () => {
  const home = mkdtempSync(join(tmpdir(), 'svc-client-home-'));
  let platform: Platform;
  let key = '';

  beforeAll(async () => {
    platform = await Platform.start();
    await platform.svc('server', 'add', 'demo', '--share', '--', process.execPath, demo);
    ({ key } = await platform.svc('keys', 'create', 'others', '--disclosure', 'all'));
  }, startTimeoutMs);
  afterAll(async () => {
    rmSync(home, { recursive: true, force: true });
    await platform[Symbol.asyncDispose]();
  }, startTimeoutMs);

  interface Options {
    readonly key: string;
    readonly url?: string;
    /** Ends the client as soon as it writes this: it would wait for a person. */
    readonly until?: RegExp;
  }

  function run(
    name: string,
    { key: shown, url = platform.mcpUrl, until }: Options,
  ): Promise<{ code: number | null; stdout: string; stderr: string }> {
    const { program, python } = clients[name] ?? expect.fail(name);
    const file = fileURLToPath(new URL(`clients/${program}`, import.meta.url));
    const env = {
      ...{ PATH: process.env.PATH, HOME: home, CLIENTS: installed, PLATFORM: url, SVC_API_KEY: shown },
      ...(python === undefined ? {} : { PYTHONPATH: join(installed, python), PYTHONDONTWRITEBYTECODE: '1' }),
    };
    const options = { env, timeout: testTimeoutMs, detached: true };
    const child = spawn(python === undefined ? process.execPath : 'python3', [file], options);
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
      // With the programs that it has started.
      if (until?.test(stderr) && child.pid !== undefined && child.exitCode === null) process.kill(-child.pid);
    });
    return new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve({ code, stdout, stderr }));
    });
  }

  test.concurrent.each(Object.keys(clients))('%s lists all tools of a key, and calls one', async (name) => {
    const { code, stdout, stderr } = await run(name, { key });
    expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
    const { tools, answer } = JSON.parse(stdout);
    expect(tools.toSorted()).toEqual(
      [...Object.values(constantTools), 'add', 'echo', 'fail', 'now', 'slow_report'].sort(),
    );
    expect(answer).toBe('42');
  });

  const others = Object.keys(clients).filter((name) => name !== 'mcp-remote');
  test.concurrent.each(others)('%s shows why a wrong key is refused', async (name) => {
    const { code, stdout, stderr } = await run(name, { key: wrongKey });
    expect(code).not.toBe(0);
    expect(stdout + stderr).toMatch(otherRefusals[name] ?? refusal);
  });

  test('mcp-remote asks for a sign-in instead of a wrong key, and finds the address of it', async () => {
    const url = `http://localhost:${platform.ports['remote-mcp']}/mcp`;
    const asked = /visiting:\s+(http:\/\/localhost:\d+\/connect\/authorize\?\S+)/;
    const { stderr } = await run('mcp-remote', { key: wrongKey, url, until: asked });
    const [, address = ''] = asked.exec(stderr) ?? [];
    const page = await fetch(address, { redirect: 'manual' });
    expect([page.status, page.headers.get('location')]).toEqual([
      303,
      expect.stringMatching(new RegExp(`^http://localhost:${platform.ports.frontend}/connect/`)),
    ]);
  });
});
