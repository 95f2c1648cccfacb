import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { foreignServers } from './foreign-servers.ts';
import { freePorts } from './free-ports.ts';
import { Platform, startTimeoutMs, testTimeoutMs } from './platform.ts';
import { runWithTest } from './run-with-test.ts';
import { until } from './until.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

/** A folder that `.ci/mcp-servers` has filled. */
const installed = process.env.SVC_TEST_MCP_SERVERS ?? '';
const chromium = '/usr/bin/chromium';

interface Call {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly answer: RegExp;
}

const echo: Call = { tool: 'echo', input: { message: 'hear me' }, answer: /Echo: hear me/ };
const here = import.meta.dirname;

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
  time: { tool: 'get_current_time', input: { timezone: 'Europe/Berlin' }, answer: /Europe\/Berlin/ },
  git: { tool: 'git_status', input: { repo_path: here }, answer: /./ },
  fetch: { tool: 'fetch', input: { url: 'http://127.0.0.1:1/' }, answer: /./ },
  playwright: { tool: 'browser_navigate', input: { url: 'data:text/html,<h1>Hear me</h1>' }, answer: /Hear me/ },
};

/** Errors that the tool itself reports: a folder without a repository, and a closed port. */
const fails = ['git', 'fetch'];

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
    const browser = ['--headless', '--no-sandbox', '--isolated', '--executable-path', chromium];
    const mcpServers = {
      everything: command(everything),
      sse: { url: `http://127.0.0.1:${ssePort}/sse` },
      streamable: { url: `http://127.0.0.1:${streamablePort}/mcp` },
      filesystem: command([...filesystem, platform.folder]),
      memory: command(memory, { MEMORY_FILE_PATH: join(platform.folder, 'memory.jsonl') }),
      thinking: inNode('@modelcontextprotocol/server-sequential-thinking/dist/index.js'),
      time: module('mcp_server_time'),
      git: module('mcp_server_git'),
      fetch: module('mcp_server_fetch', '--ignore-robots-txt'),
      ...(existsSync(chromium) ? { playwright: inNode('@playwright/mcp/cli.js', ...browser) } : {}),
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

  test.each(Object.entries(calls))('%j lists its tools, and one of them is called', async (name, call) => {
    if (name === 'playwright' && !existsSync(chromium)) return;
    const input = join(platform.folder, `${name}.json`);
    await writeFile(input, JSON.stringify(call.input));
    const run = await platform.run(['tool', 'call', `${name}/${call.tool}`, '--input', input]);
    expect([run.code, run.stdout + run.stderr]).toEqual([
      fails.includes(name) ? 1 : 0,
      expect.stringMatching(call.answer),
    ]);
  });
});
