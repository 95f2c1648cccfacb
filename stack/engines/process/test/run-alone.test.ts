import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { createInstallation } from '../../../operations/create-installation.ts';
import { hasNatsServer } from '../../../test/platform.ts';

test.skipIf(!hasNatsServer)(
  'on a real server a node that cannot start is reported by name, and the wait ends',
  async () => {
    const dir = mkdtempSync(join(tmpdir(), 'svc-alone-'));
    onTestFinished(() => rmSync(dir, { recursive: true }));
    const { installation } = await createInstallation({ dir: join(dir, 'svc'), topology: 'distributed' });
    // The bus cannot store data in /dev/null.
    const broken = JSON.stringify({ ...installation, dataDir: '/dev/null' });
    const program = `
      import { readPlan } from ${JSON.stringify(new URL('../../plan-of.ts', import.meta.url).href)};
      import { runProcessesAlone } from ${JSON.stringify(new URL('../run-alone.ts', import.meta.url).href)};
      const { signal } = new AbortController();
      const alone = { plan: readPlan(${broken}), bus: true, graph: false, env: process.env, signal };
      await runProcessesAlone(alone).catch((error) => console.log(String(error)));`;
    const args = ['--input-type=module', '-e', program];
    const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 15_000 });
    expect(stdout).toMatch(/^SvcError: nats failed to get ready: it ended with exit code 1/);
  },
);
