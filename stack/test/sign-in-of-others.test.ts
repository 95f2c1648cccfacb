import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { constantTools } from '../../services/contracts/constant-tools.ts';
import { repository } from './foreign-servers.ts';
import { freePorts } from './free-ports.ts';
import { Person } from './person.ts';
import { Platform, startTimeoutMs, testTimeoutMs } from './platform.ts';
import { until } from './until.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

/** A folder that `.ci/mcp-clients` has filled. */
const installed = process.env.SVC_TEST_MCP_CLIENTS ?? '';
const demo = join(repository, 'templates/demo/server.mjs');
/** The address of the authorization server to which a client sends its person. */
const request = /(http:\/\/localhost:\d+\/connect\/authorize\?[^\s"]+)/;
/** In place of a browser, a client of Python runs this. */
const browser = `sh -c 'echo "Open $0" >&2' %s`;

/** A program in `clients/sign-in/` for each client. */
const clients: Readonly<Record<string, string>> = {
  'MCP Inspector': 'inspector.mjs',
  'mcp-remote': 'mcp-remote.mjs',
  'the Python SDK': 'python-sdk.py',
  FastMCP: 'fastmcp.py',
};

describe.skipIf(installed === '')('a program that others wrote signs in by itself', () => {
  const home = mkdtempSync(join(tmpdir(), 'svc-sign-in-home-'));
  let platform: Platform;
  let person: Person;

  beforeAll(async () => {
    platform = await Platform.start();
    await platform.svc('server', 'add', 'demo', '--share', '--', process.execPath, demo);
    person = await Person.signIn(platform);
  }, startTimeoutMs);
  afterAll(async () => {
    rmSync(home, { recursive: true, force: true });
    await platform[Symbol.asyncDispose]();
  }, startTimeoutMs);

  /** Runs the program, and does what its person does in the browser. */
  async function run(program: string, answer: 'consent' | 'refuse' = 'consent') {
    const [port = 0] = await freePorts(1);
    const at = (name: 'backend' | 'remote-mcp') => `http://localhost:${platform.ports[name]}`;
    const isPython = program.endsWith('.py');
    const env = {
      ...{ PATH: process.env.PATH, HOME: mkdtempSync(join(home, 'h-')), CLIENTS: installed, BROWSER: browser },
      ...{ PLATFORM: `${at('remote-mcp')}/mcp`, ISSUER: at('backend'), CALLBACK: `http://127.0.0.1:${port}/callback` },
      ...(isPython ? { PYTHONPATH: join(installed, 'python'), PYTHONDONTWRITEBYTECODE: '1', PYTHONSAFEPATH: '1' } : {}),
    };
    const file = fileURLToPath(new URL(`clients/sign-in/${program}`, import.meta.url));
    const options = { env, timeout: testTimeoutMs, detached: true };
    const child = spawn(isPython ? 'python3' : process.execPath, [file], options);
    const ended = outputOf(child);
    const asked = new Set<string>();
    child.stderr?.on('data', async () => {
      const [, address] = request.exec(ended.stderr()) ?? [];
      if (address === undefined || asked.has(address)) return;
      asked.add(address);
      const back = await person.answer(address, answer);
      // Some programs listen only after they have opened the browser.
      await until(() => isReached(back));
    });
    return { ...(await ended.all), asked: [...asked] };
  }

  test.each(Object.entries(clients))('%s, and calls a tool', async (_name, program) => {
    const { code, stdout, stderr, asked } = await run(program);
    expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
    const { tools, answer } = JSON.parse(stdout);
    expect(tools.toSorted()).toEqual(Object.values(constantTools).sort());
    expect(answer).toBe('42');
    expect(asked).toHaveLength(1);
  });

  // mcp-remote waits for another answer.
  const others = Object.entries(clients).filter(([name]) => name !== 'mcp-remote');
  test.each(others)('%s ends when its person refuses', async (_name, program) => {
    const { code, stdout, stderr } = await run(program, 'refuse');
    expect([code === 0, stdout]).toEqual([false, '']);
    expect(stderr).toMatch(/access_denied|The person refused|Access was denied/);
  });

  test('the conformance suite of MCP, and every check of its authorization server passes', async () => {
    const { code, stderr } = await run('conformance.mjs');
    expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
    expect(stderr).toContain('\nTotal: 3 passed, 0 failed\n');
  });
});

async function isReached(address: URL): Promise<boolean> {
  return await fetch(address).then(
    () => true,
    () => false,
  );
}

function outputOf(child: ChildProcess) {
  let [stdout, stderr] = ['', ''];
  child.stdout?.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    stderr += chunk;
  });
  const all = new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
  return { all, stderr: () => stderr };
}
