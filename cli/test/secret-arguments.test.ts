import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { connectToBackend } from '../../stack/client/backend-client.ts';
import { installationIn } from '../../stack/state/installation.ts';
import { runSvc } from './run-svc.ts';
import { withRunningPlatform } from './running-platform.ts';

const platform = withRunningPlatform();
const svc = (...args: string[]) => platform.svc(...args);
const token = 'ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8';
const server = fileURLToPath(new URL('../../templates/demo/server.mjs', import.meta.url));
/** Starts a program, with the variable TOKEN as an argument, if that holds the secret. */
const needs = `test "$TOKEN" = ${token.slice(0, 8)}"${token.slice(8)}" && exec "$0" "$1" --token "$TOKEN"`;

let cwd = '';
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'svc-secrets-'));
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

test.each([
  [['--', 'env', `TOKEN=${token}`, process.execPath, server]],
  [['--', process.execPath, server, token]],
  [['--', process.execPath, server, '--api-key', 'hunter2']],
  [['--', process.execPath, server, 'postgres://me:hunter2@db.example/app']],
  [['--', 'npx', 'mcp-remote', 'https://a.example/mcp', '--header', 'Authorization: Bearer hunter2']],
  [['--', `env TOKEN=${token} npx server`]],
  [['--env', `TOKEN=${token}`, '--', process.execPath, server]],
  [[`--env=TOKEN=${token}`, '--', process.execPath, server]],
  [['env', `TOKEN=${token}`, process.execPath, server]],
  [['--url', 'https://a.example/mcp?api_key=hunter2']],
  [['--url', 'https://me:hunter2@a.example/mcp']],
])('svc server add refuses %j, and does not repeat the secret', async (words) => {
  for (const flags of [[], ['--json']]) {
    const { code, stdout, stderr } = await svc('server', 'add', 'refused', ...flags, ...words);
    expect({ code, text: stdout + stderr }).toMatchObject({
      code: 2,
      text: expect.stringContaining('looks like a secret'),
    });
    expect(stdout + stderr).toMatch(/--(variable|header)-file/);
    expect(stdout + stderr).not.toMatch(/ghp_a1|hunter2/);
  }
  expect((await svc('server', 'list')).stdout).not.toContain('refused');
});

test('the repair of the refusal works: a variable from a file, also for a command with an argument', async () => {
  const file = join(cwd, 'secret.env');
  writeFileSync(file, `TOKEN=${token}\n`);
  chmodSync(file, 0o600);
  const words = ['sh', '-c', needs, process.execPath, server];
  const added = await svc('server', 'add', 'from-file', '--variable-file', file, '--', ...words);
  expect(added).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Connected/) });
  const shown = await svc('server', 'show', 'from-file');
  expect(shown.stdout).toMatch(/started as +TOKEN=\[secret\] sh -c/);
  expect(shown.stdout).not.toContain(token);
});

test('the repair of the refusal works: a variable of the environment, in a file for svc apply', async () => {
  const yaml = (more: string) =>
    `mcpServers:\n  from-env: { command: ${process.execPath}, args: [${server}${more}], env: { TOKEN: { fromEnv: TOKEN } } }\n`;
  const apply = (text: string) => {
    writeFileSync(join(cwd, 'p.yaml'), text);
    return runSvc(['apply', 'p.yaml', '--dir', platform.dir()], { cwd, env: { TOKEN: token } });
  };
  const refused = await apply(yaml(`, --verbose, "${token}"`));
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toMatch(/p\.yaml:2:\d+ mcpServers\.from-env\.args\.2: It looks like a secret\..*fromEnv/);
  expect(refused.stderr).not.toContain(token);
  expect(await apply(yaml(''))).toMatchObject({ code: 0, stdout: '+ MCP server from-env\n1 changed.\n' });
  const inAddress = 'mcpServers:\n  in-address: { url: "http://127.0.0.1:9/mcp?token=hunter2", enabled: false }\n';
  expect(await apply(inAddress)).toMatchObject({ code: 0 });
  expect((await svc('server', 'show', 'in-address')).stdout).toContain('mcp?token=[secret]');
});

test('an MCP server with a secret in its arguments keeps running, and its secret is not shown', async () => {
  const backend = await connectToBackend(installationIn(platform.dir()));
  const found = z.object({ workspace: z.object({ id: z.string() }) });
  const { workspace } = found.parse(await backend.send({ text: '{ workspace(name: "Default") { id } }' }, {}));
  for (const [name, launch] of [
    ['older', { command: 'env', args: [`TOKEN=${token}`, process.execPath, server, '--password', 'hunter2'] }],
    ['older-url', { url: 'http://127.0.0.1:9/mcp?token=hunter2' }],
  ] as const) {
    const text = 'mutation ($w: ID!, $input: McpServerInput!) { createMcpServer(workspace: $w, input: $input) { id } }';
    await backend.send({ text }, { w: workspace.id, input: { name, launch } });
  }
  await expect
    .poll(async () => (await svc('server', 'show', 'older')).stdout, { timeout: 15_000 })
    .toMatch(/Connected/);
  const { stdout } = await svc('server', 'show', 'older');
  expect(stdout).toMatch(/started as +env TOKEN=\[secret\] \S+ \S+ --password \[secret\]$/m);
  const { launch } = JSON.parse((await svc('server', 'show', 'older', '--json')).stdout);
  expect(launch.args).toEqual(['TOKEN=[secret]', process.execPath, server, '--password', '[secret]']);
  expect((await svc('server', 'show', 'older-url')).stdout).toContain('http://127.0.0.1:9/mcp?token=[secret]');
  for (const words of [
    ['status'],
    ['server', 'list'],
    ['logs', '-n', '100000'],
    ['server', 'show', 'older-url', '--json'],
  ]) {
    const printed = await svc(...words);
    expect(printed.stdout + printed.stderr, words.join(' ')).not.toMatch(/ghp_a1|hunter2/);
  }
}, 60_000);
