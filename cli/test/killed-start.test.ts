import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { readWorkspaces } from '../../stack/operations/test/installed.ts';
import { openTrial, platformsOf, type Trial } from '../../stack/operations/test/trial.ts';
import { editDefinition } from '../../stack/test/edit-definition.ts';
import { folderOfEachTest } from '../../stack/test/folder-of-each-test.ts';
import { freeBusPorts } from '../../stack/test/free-ports.ts';
import { hasNatsServer } from '../../stack/test/platform.ts';
import { processesOf } from '../../stack/test/running-processes.ts';
import { runSvc } from './run-svc.ts';

vi.setConfig({ testTimeout: 300_000 });
const folder = folderOfEachTest();

/** `command`: kill -9 of svc up. `platform`: of the process that it started, too. `all`: also of the parts that run by then. */
type Victims = 'command' | 'platform' | 'all';

/** Code that Node loads before svc. It kills at the line of this number that svc up shows, before the line is written. */
function killAt(count: number, victims: Victims, stateDir: string): string {
  return `
    const fs = require('node:fs');
    const kill = (pid) => { try { process.kill(pid, 'SIGKILL'); } catch {} };
    let left = ${count};
    const { write } = process.stderr;
    process.stderr.write = (text, ...rest) => {
      if (!/^· \\S+ (?!planned)/.test(text) || left-- > 0) return write.call(process.stderr, text, ...rest);
      if (${victims !== 'command'}) {
        const { pid, services } = JSON.parse(fs.readFileSync(${JSON.stringify(join(stateDir, 'process.json'))}, 'utf8'));
        kill(pid);
        if (${victims === 'all'}) for (const one of services) if (one.process !== null) kill(-one.process.pid);
      }
      kill(process.pid);
    };`;
}

/** Kills a start at each of its steps, with these victims in turn: every step with all of them takes minutes. */
async function killAtEachStep({ installation, up, down }: Trial, victims: readonly Victims[]): Promise<void> {
  const before = join(folder(), 'before.cjs');
  for (let step = 0; ; step++) {
    const victim = victims[step % victims.length] ?? 'command';
    writeFileSync(before, killAt(step, victim, installation.stateDir));
    const options = { cwd: installation.dir, env: { NODE_OPTIONS: `--require=${before}` } };
    const { code, stderr } = await runSvc(['up'], options);
    const what = `${victim} at step ${step}: ${stderr}`;
    expect([null, 0], what).toContain(code);
    if (code === null) expect((await up()).status.state, what).toBe('running');
    expect(platformsOf(installation), what).toHaveLength(1);
    expect(await readWorkspaces(installation), what).toHaveLength(1);
    await down();
    expect(
      processesOf(installation.dir).map(({ command }) => command),
      what,
    ).toEqual([]);
    if (code === null) continue;
    expect(step).toBeGreaterThan(3);
    return;
  }
}

test('svc up, killed at each of its steps, alone or with its platform: the next one repairs', async () => {
  await using trial = await openTrial();
  await killAtEachStep(trial, ['command', 'platform']);
});

describe.skipIf(!hasNatsServer)('on a real server', () => {
  test('svc up of several processes, killed at each of its steps: the next one repairs', async () => {
    await using trial = await openTrial();
    const { port } = await freeBusPorts(1);
    editDefinition(trial.installation, 'topology: embedded', 'topology: distributed');
    editDefinition(trial.installation, /^( {2}port:) auto/m, `$1 ${port}`);
    await killAtEachStep(trial, ['command', 'platform', 'all']);
  });
});
