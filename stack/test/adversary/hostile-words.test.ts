import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { RunOptions } from '../../../cli/test/run-svc.ts';
import { send } from '../../../services/remote-mcp/test/raw.ts';
import { misbehaving } from '../foreign-servers.ts';
import { Platform, startTimeoutMs, testTimeoutMs } from '../platform.ts';
import { until } from '../until.ts';
import { findUnsafe, texts } from './terminal-attacks.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

let platform: Platform;
/** Answers every request with an error that contains all attacks. */
const web = createServer((_, response) => {
  response.writeHead(500, { 'content-type': 'text/plain; charset=utf-8' }).end(texts.join(''));
});

beforeAll(async () => {
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
  const address = web.address();
  platform = await Platform.start();
  for (const mode of ['lists', 'exits', 'refuses']) {
    await platform.run(['server', 'add', mode, '--', ...misbehaving('forger'), mode, ...texts]);
  }
  const port = typeof address === 'object' ? address?.port : 0;
  await platform.run(['server', 'add', 'web', '--url', `http://127.0.0.1:${port}/mcp`]);
  const { tools } = await platform.svc('server', 'show', 'lists');
  const offered = tools.filter((tool: { listed: boolean }) => tool.listed);
  for (const [index, { originalName }] of offered.entries()) {
    await platform.run(['skill', 'create', `skill-${index}`, '--tool', `lists/${originalName}`]);
  }
  const gone = `lists/gone${texts.filter((text) => !/[\r\n\u2028]/.test(text)).join('')}`;
  await platform.run(['skill', 'create', 'broken', '--tool', gone, '--allow-missing']);
  await platform.addRole('All', ['broken']);
  const key = await platform.addKey('agent');
  // fetch sends no control character in a header, but HTTP reads C1 as letters of Latin-1.
  for (const origin of ['https://evil.example/\u009b2J', 'null']) {
    const headers = { origin, 'user-agent': 'agent/\u009d0;title\u009c' };
    await send(platform.mcpUrl, { key, headers, body: { jsonrpc: '2.0', id: 1, method: 'ping' } });
  }
}, startTimeoutMs);
afterAll(async () => {
  web.close();
  await platform?.[Symbol.asyncDispose]();
}, startTimeoutMs);

const typed = [
  ...[
    'status',
    'server list',
    'skill list',
    'role list',
    'keys list',
    'runtime list',
    'file list broken',
    'skill show broken',
  ],
  ...['server show lists', 'server show exits', 'server show refuses', 'server show web', 'logs -n 100000'],
];
/** Every command that prints texts of other people. */
const commands: readonly (readonly string[])[] = [
  ...typed.map((words) => words.split(' ')),
  ['server', 'show', texts.join('')],
  ['skill', 'create', 'again', '--tool', `lists/${texts.join('')}`],
  ['logs', texts.join('')],
  ['server', 'list', `--${texts.join('')}`],
  [texts.join('')],
  ...[texts.join(''), '__proto__', 'constructor', ''].map((name) => ['server', 'add', '--from', name]),
  ['server', 'add', '--from', 'files', '--fill', `${texts.join('')}=x`],
  ['server', 'add', texts.join(''), '--from', 'files', '--fill', 'folder=x'],
];

/** Runs `svc`, whose two streams must hold no unsafe text. Returns standard output. */
async function runSafely(words: readonly string[], options: Partial<RunOptions> = {}): Promise<string> {
  const { stdout, stderr } = await platform.run(words, options);
  expect(findUnsafe(stdout)).toBeNull();
  expect(findUnsafe(stderr)).toBeNull();
  return stdout;
}

describe.each([
  { shown: 'plainly', env: {} },
  { shown: 'in colours', env: { FORCE_COLOR: '1' } },
])('shown $shown, texts of others reach no terminal as they are', ({ env }) => {
  test.each(commands.map((words) => ({ words, typed: JSON.stringify(words.join(' ')).slice(0, 60) })))(
    'svc $typed',
    async ({ words }) => {
      const stdout = await runSafely(words, { env });
      expect(stdout).not.toMatch(/^(forged|all is well)/m);
    },
  );

  test('svc server add, as long as it waits and at its end', async () => {
    const name = env.FORCE_COLOR ? 'late-1' : 'late';
    for (const mode of ['exits', 'lists', 'refuses']) {
      await runSafely(['server', 'add', `${name}-${mode}`, '--', ...misbehaving('forger'), mode, ...texts], { env });
    }
  });

  test('a frame of svc status --watch', async () => {
    await runSafely(['status', '--watch'], { env, interruptAt: 'RUNTIME' });
  });
});

test('programs get the same texts, escaped', async () => {
  const { tools } = JSON.parse(await runSafely(['server', 'show', 'lists', '--json']));
  expect(tools.some(({ description }: { description: string }) => description.includes('\u009b2J'))).toBe(true);
});

test('the files of the logs hold them escaped', async () => {
  const { logsDir } = platform.installation;
  await until(() => readdirSync(logsDir).some((name) => name.endsWith('.log')));
  for (const name of readdirSync(logsDir).filter((one) => one.endsWith('.log'))) {
    expect(findUnsafe(readFileSync(`${logsDir}/${name}`, 'utf8')), name).toBeNull();
  }
});
