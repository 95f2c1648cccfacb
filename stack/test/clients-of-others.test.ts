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
  // A client of OAuth asks for a sign-in instead of showing the refusal, and shows that answer.
  'mcp-remote': /There is no sign-in here: agents use an API key\. The key is missing or was refused\./,
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

  function run(
    name: string,
    with_: { readonly key: string },
  ): Promise<{ code: number | null; stdout: string; stderr: string }> {
    const { program, python } = clients[name] ?? expect.fail(name);
    const file = fileURLToPath(new URL(`clients/${program}`, import.meta.url));
    const env = {
      ...{ PATH: process.env.PATH, HOME: home, CLIENTS: installed, PLATFORM: platform.mcpUrl, SVC_API_KEY: with_.key },
      ...(python === undefined ? {} : { PYTHONPATH: join(installed, python), PYTHONDONTWRITEBYTECODE: '1' }),
    };
    const child = spawn(python === undefined ? process.execPath : 'python3', [file], { env, timeout: testTimeoutMs });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
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

  test.concurrent.each(Object.keys(clients))('%s shows why a wrong key is refused', async (name) => {
    const { code, stdout, stderr } = await run(name, { key: wrongKey });
    expect(code).not.toBe(0);
    expect(stdout + stderr).toMatch(otherRefusals[name] ?? refusal);
  });
});
