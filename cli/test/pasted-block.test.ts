import { spawn } from 'node:child_process';
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { findNatsServer } from '../../services/kit/bus/nats/test/server.ts';
import { processesAreShown, processesOf } from '../../stack/test/running-processes.ts';
import { StartedProgram } from '../../stack/test/started-program.ts';
import { Elsewhere } from './elsewhere.ts';
import { startRegistry } from './package-registry.ts';
import { withPlatformForOthers } from './platform-for-others.ts';

vi.setConfig({ testTimeout: 120_000 });

const patiently = { timeout: 60_000, interval: 200 };

describe.skipIf(findNatsServer() === null)('on a real server', () => {
  const { svc } = withPlatformForOthers();

  test('a pasted block runs as it is: one more runtime is connected', async () => {
    using there = new Elsewhere();
    const name = 'lab two';
    const { stdout: block } = await svc('runtime', 'register', name);
    const pasted = await paste(block, there);
    await expect.poll(() => pasted.said('was accepted by the backend'), patiently).toBe(true);
    const { runtimes } = JSON.parse((await svc('runtime', 'list', '--json')).stdout);
    expect(runtimes).toContainEqual(expect.objectContaining({ name, available: true }));

    const folder = join(there.folder, 'svc-runtime-lab-two');
    expect(readdirSync(folder).sort()).toEqual(['lab-two-ca.pem', 'lab-two-work', 'lab-two.env']);
    expect(statSync(join(folder, 'lab-two.env')).mode & 0o777).toBe(0o600);
    const [key = ''] = /RTK_\w+/.exec(block) ?? [];
    expect(pasted.stdout + pasted.stderr).not.toContain(key);
    const seen = processesOf(there.folder).map(({ command, environment }) => command + environment);
    expect(seen.some((words) => words.includes('runtime\nstart'))).toBe(processesAreShown);
    expect(seen.filter((words) => words.includes(key))).toEqual([]);
  });

  test.each(['sh', 'bash'])(
    'a block pasted into %s writes a new key over an earlier file that others may read',
    async (shell) => {
      using there = new Elsewhere();
      const { stdout: block } = await svc('runtime', 'register', 'twice');
      const file = join(there.folder, 'svc-runtime-twice', 'twice.env');
      const [files = ''] = block.split('npx -y');
      const write = (text: string) =>
        new Promise((resolve) => shellIn(there, shell, `${text} true`).once('exit', resolve));
      expect(await write(files)).toBe(0);
      writeFileSync(file, 'RUNTIME_KEY=old\n', { mode: 0o644 });
      expect(await write(files)).toBe(0);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      expect(existsSync(join(there.folder, '.bash_history'))).toBe(false);
    },
  );
});

/** With the package from a registry of this machine, and a home of its own. */
async function paste(block: string, there: Elsewhere): Promise<StartedProgram> {
  const registry = await startRegistry(there.folder);
  const child = shellIn(there, 'sh', block, { npm_config_registry: registry });
  onTestFinished(() => {
    // The block ends with its programs, which npx started in the same group.
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
  });
  return new StartedProgram(child);
}

function shellIn({ folder }: Elsewhere, shell: string, text: string, env: Readonly<Record<string, string>> = {}) {
  const child = spawn(shell, [], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', HOME: folder, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
  child.stdin.end(text);
  return child;
}
