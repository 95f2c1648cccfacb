import { chmodSync, lstatSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { hasNatsServer, Platform, startTimeoutMs, testTimeoutMs } from './platform.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

/** With this one, a file is as open as whoever makes it lets it be. */
let umask = 0;
beforeAll(() => {
  umask = process.umask(0);
});
afterAll(() => {
  process.umask(umask);
});

const documented: Readonly<Record<string, string>> = { 'svc.yaml': '0644' };

/** Every file and folder of an installation that others could open, with its mode. */
function open(dir: string): readonly string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' }).flatMap((path) => {
    const stat = lstatSync(join(dir, path), { throwIfNoEntry: false });
    if (stat === undefined || stat.isSymbolicLink()) return [];
    const mode = (stat.mode & 0o777).toString(8).padStart(4, '0');
    const wanted = documented[path] ?? (stat.isDirectory() ? '0700' : '0600');
    return mode === wanted ? [] : [`${path} ${mode}`];
  });
}

describe.each([
  ['embedded', 'embedded', true],
  ['with NATS', 'distributed', hasNatsServer],
] as const)('an installation %s', (_, topology, canRun) => {
  const title = 'is closed to others while it runs, after it ran, and again after its files were opened';
  test.skipIf(!canRun)(title, { timeout: startTimeoutMs }, async () => {
    await using platform = await Platform.start({ topology });
    const { dir, dataDir, logsDir } = platform.installation;
    await platform.addEcho();
    const file = join(platform.folder, 'forms.md');
    writeFileSync(file, '# Forms\n');
    await platform.svc('file', 'add', 'all', file);
    const agent = await platform.connect(await platform.addKey('agent'));
    await agent.text('load_skill', { skill: 'all' });
    expect(open(dir)).toEqual([]);
    await platform.svc('down');
    expect(open(dir)).toEqual([]);
    for (const [opened, mode] of [
      [dataDir, 0o755],
      [join(dataDir, 'graph.sqlite'), 0o644],
      [join(logsDir, 'backend.log'), 0o666],
    ] as const) {
      chmodSync(opened, mode);
    }
    const { stderr } = await platform.run(['up']);
    expect(stderr).toContain('data/ was repaired: changed its mode from 0755 to 0700.');
    expect(stderr).toContain('data/graph.sqlite was repaired: changed its mode from 0644 to 0600.');
    expect(stderr).toContain('logs/backend.log was repaired: changed its mode from 0666 to 0600.');
    expect(open(dir)).toEqual([]);
  });
});
