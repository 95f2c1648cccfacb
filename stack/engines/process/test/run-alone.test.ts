import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
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
    const program = fileURLToPath(new URL('./run-alone-and-fail.ts', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [program, installation.dir], { timeout: 15_000 });
    expect(stdout).toMatch(/^SvcError: nats failed to get ready: it ended with exit code 1/);
  },
);
