import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { whyUnstarted } from './why-unstarted.ts';

const repository = fileURLToPath(new URL('../../', import.meta.url));

/** The last output of one of the platform's programs, and its exit code. */
function run(args: readonly string[], env: Readonly<Record<string, string>>) {
  return new Promise<{ code: unknown; said: string }>((resolve) => {
    execFile(process.execPath, args, { cwd: repository, env }, (error, _, stderr) =>
      resolve({ code: error?.code, said: stderr }),
    );
  });
}

test.each(globSync('services/*/main.ts', { cwd: repository }))(
  '%s that cannot start prints the reason and the repair, not a stack trace',
  async (program) => {
    const { code, said } = await run([join(repository, program)], { PORT: 'x' });
    expect(code).toBe(1);
    expect(said).toMatch(/^[a-z-]+ cannot start: .*\n {2}[A-Z_]+ .*\n {4}(Set|Change) /);
    expect(said).not.toContain('    at ');
  },
);

test('an error of the system is printed with its repair', async () => {
  const { code, said } = await run(['services/frontend/main.ts'], { PORT: '1', BIND_HOST: '192.0.2.1' });
  expect({ code, said }).toEqual({
    code: 1,
    said: 'Cannot listen on port 1 of 192.0.2.1: this machine has no such address.\nSet BIND_HOST to an address of this machine.\n',
  });
});

test.each([
  [
    Object.assign(new Error('open'), { code: 'ENOSPC', path: '/data/x' }),
    /^"\/data\/x": no space is left on the disk$/,
  ],
  [new TypeError('ours'), /^TypeError: ours\n {4}at /],
  ['nothing', /^nothing$/],
])('of %s it prints the kind', (thrown, said) => {
  expect(whyUnstarted(thrown)).toMatch(said);
});
