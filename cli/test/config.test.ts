import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rowsOf } from '../../stack/settings/setting.ts';
import { settings } from '../../stack/settings/settings.ts';
import { runSvc } from './run-svc.ts';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-config-')));
const dir = join(folder, 'svc');
const svc = (...args: string[]) => runSvc([...args, '--dir', dir], { cwd: folder });

beforeAll(async () => {
  expect(await svc('init', dir, '--yes')).toMatchObject({ code: 0 });
  const file = join(dir, 'svc.yaml');
  const text = readFileSync(file, 'utf8').replace('level: info', 'level: debug');
  writeFileSync(file, text.replace('runtime: {}', 'runtime: { HEARTBEAT_INTERVAL: 1000 }'));
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("svc config show prints each service's variables and their origin", async () => {
  const { stdout, code } = await svc('config', 'show', '--json');
  expect(code).toBe(0);
  const { variables } = JSON.parse(stdout);
  expect(variables).toEqual(
    expect.arrayContaining([
      { service: 'backend', name: 'LOG_LEVEL', value: 'debug', decidedBy: 'logs.level' },
      { service: 'runtime', name: 'HEARTBEAT_INTERVAL', value: '1000', decidedBy: 'environment.runtime' },
      expect.objectContaining({ name: 'ENCRYPTION_KEY_FILE', decidedBy: 'secrets/encryption.key' }),
    ]),
  );
  expect((await svc('config', 'show')).stdout).toMatch(/^runtime +HEARTBEAT_INTERVAL +1000 +environment\.runtime$/m);
});

test('svc config show holds no secret', async () => {
  const { stdout } = await svc('config', 'show', '--json');
  const secrets = readdirSync(join(dir, 'secrets'), { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  expect(secrets.length).toBeGreaterThan(3);
  for (const { parentPath, name } of secrets) {
    for (const line of readFileSync(join(parentPath, name), 'utf8')
      .split('\n')
      .filter((text) => text.length > 15)) {
      if (!line.startsWith('-----')) expect(stdout.includes(line), name).toBe(false);
    }
  }
});

test('svc config docs explains every setting, and one section alone', async () => {
  const all = JSON.parse((await svc('config', 'docs', '--json')).stdout).settings;
  expect(all.map(({ path }: { readonly path: string }) => path)).toEqual(
    rowsOf(settings).map(({ path }) => path.join('.')),
  );
  const { stdout } = await svc('config', 'docs', 'logs.level');
  expect(stdout).toBe(`logs.level
Meaning  trace, debug, info, warn or error.
Must be  one of trace, debug, info, warn, error
Default  "info"
Decides  backend LOG_LEVEL, remote-mcp LOG_LEVEL, runtime LOG_LEVEL, frontend LOG_LEVEL
`);
});

test('svc config docs refuses an unknown setting, with the nearest name', async () => {
  const { stderr, code } = await svc('config', 'docs', 'runtme');
  expect(stderr).toContain('"runtme" is not a setting. Did you mean "runtime"?');
  expect(code).not.toBe(0);
  const beside = await svc('config', 'docs', 'limits.nothing');
  expect(beside.stderr).toContain(
    'Known here: limits.sessionIdleTimeoutMs, limits.fileSizeMaxMb, limits.historyDays, limits.startSecondsMax, limits.memoryMaxMb.',
  );
});
