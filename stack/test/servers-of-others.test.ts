import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { chromiumPath, hasChromium } from './browser.ts';
import { foreignServers } from './foreign-servers.ts';
import { freePorts } from './free-ports.ts';
import { Platform, startTimeoutMs, testTimeoutMs } from './platform.ts';
import { runWithTest } from './run-with-test.ts';
import { until } from './until.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

/** A folder that `.ci/mcp-servers` has filled. */
const installed = process.env.SVC_TEST_MCP_SERVERS ?? '';

interface Call {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly answer: RegExp;
}

const echo: Call = { tool: 'echo', input: { message: 'hear me' }, answer: /Echo: hear me/ };

/** A repository without commits, and a page, for the tools to read. */
const repository = mkdtempSync(join(tmpdir(), 'svc-repository-'));
execFileSync('git', ['init', '--quiet', repository]);
const page = createServer((_request, response) =>
  response.setHeader('content-type', 'text/html').end('<h1>Hear me</h1>'),
);
page.listen(0, '127.0.0.1');
await once(page, 'listening');
const pageUrl = `http://127.0.0.1:${(page.address() as AddressInfo).port}/`;
afterAll(() => {
  page.close();
  rmSync(repository, { recursive: true });
});

/** One harmless call of each MCP server. */
const calls: Readonly<Record<string, Call>> = {
  everything: echo,
  sse: echo,
  streamable: echo,
  filesystem: { tool: 'list_allowed_directories', input: {}, answer: /Allowed directories/ },
  memory: { tool: 'read_graph', input: {}, answer: /"entities"/ },
  thinking: {
    tool: 'sequentialthinking',
    input: { thought: 'One', thoughtNumber: 1, totalThoughts: 1, nextThoughtNeeded: false },
    answer: /"thoughtNumber": 1/,
  },
  commands: { tool: 'run_command', input: { command: 'echo hear me' }, answer: /hear me/ },
  hello: { tool: 'add', input: { a: 40, b: 2 }, answer: /42/ },
  time: { tool: 'get_current_time', input: { timezone: 'Europe/Berlin' }, answer: /Europe\/Berlin/ },
  git: { tool: 'git_status', input: { repo_path: repository }, answer: /No commits yet/ },
  fetch: { tool: 'fetch', input: { url: pageUrl, raw: true }, answer: /Hear me/ },
};
const browse = { tool: 'browser_navigate', input: { url: 'data:text/html,<h1>Hear me</h1>' }, answer: /Hear me/ };

describe.skipIf(installed === '')('an MCP server that others wrote', () => {
  const running = new AsyncDisposableStack();
  let platform: Platform;

  beforeAll(async () => {
    platform = running.use(await Platform.start());
    const [ssePort = 0, streamablePort = 0] = await freePorts(2);
    const { everything, filesystem, memory } = foreignServers;
    const [node, file] = everything;
    for (const [mode, port] of [['sse', ssePort] as const, ['streamableHttp', streamablePort] as const]) {
      running.use(runWithTest([node, file, mode], platform.folder, { PORT: String(port) }));
    }
    const command = ([program = '', ...args]: readonly string[], env: Readonly<Record<string, string>> = {}) => ({
      ...{ command: program, args, env, cwd: platform.folder },
      startTimeout: 120,
    });
    const python = { PYTHONPATH: join(installed, 'python') };
    const module = (name: string, ...args: readonly string[]) => command(['python3', '-m', name, ...args], python);
    const inNode = (path: string, ...args: readonly string[]) =>
      command([node, join(installed, 'node_modules', path), ...args]);
    const browser = ['--headless', '--no-sandbox', '--isolated', '--executable-path', chromiumPath];
    const mcpServers = {
      everything: command(everything),
      sse: { url: `http://127.0.0.1:${ssePort}/sse` },
      streamable: { url: `http://127.0.0.1:${streamablePort}/mcp` },
      filesystem: command([...filesystem, platform.folder]),
      memory: command(memory, { MEMORY_FILE_PATH: join(platform.folder, 'memory.jsonl') }),
      thinking: inNode('@modelcontextprotocol/server-sequential-thinking/dist/index.js'),
      commands: inNode('mcp-server-commands/build/index.js'),
      hello: inNode('mcp-hello-world/build/stdio.js'),
      time: module('mcp_server_time'),
      git: module('mcp_server_git'),
      fetch: module('mcp_server_fetch', '--ignore-robots-txt', '--allow-private-ips'),
      ...(hasChromium ? { playwright: inNode('@playwright/mcp/cli.js', ...browser) } : {}),
    };
    const applied = join(platform.folder, 'servers.yaml');
    // JSON is YAML.
    await writeFile(applied, JSON.stringify({ mcpServers }));
    await platform.svc('apply', applied);
    await until(async () => {
      const { mcpServers: seen } = await platform.svc('server', 'list');
      return seen.every(({ status }: { status: string }) => status === 'Connected');
    });
  }, startTimeoutMs);
  afterAll(() => running.disposeAsync(), startTimeoutMs);

  async function callOne(name: string, { tool, input, answer }: Call): Promise<void> {
    const file = join(platform.folder, `${name}.json`);
    await writeFile(file, JSON.stringify(input));
    const run = await platform.run(['tool', 'call', `${name}/${tool}`, '--input', file]);
    expect([run.code, run.stdout + run.stderr]).toEqual([0, expect.stringMatching(answer)]);
  }

  test.each(Object.entries(calls))('%j lists its tools, and one of them is called', callOne);

  test.skipIf(!hasChromium)('"playwright" opens a page in a browser', () => callOne('playwright', browse));
});
