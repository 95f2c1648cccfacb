import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { SvcError } from '../../services/contracts/errors.ts';
import { bwrapNamespaces, explainBwrap, noBwrap } from '../../services/contracts/sandbox.ts';
import { checkProgram } from '../check-program.ts';
import type { Definition } from '../definition/definition.ts';

const tryTimeoutMs = 10_000;
/** What a sandbox takes, with nothing of the machine left out. */
const trial = [
  ...bwrapNamespaces,
  '--ro-bind',
  '/',
  '/',
  '--proc',
  '/proc',
  '--dev',
  '/dev',
  '--tmpfs',
  '/tmp',
  'true',
];

/**
 * Refuses, before anything is started, a sandbox that could not be had: systems forbid it in ways that only a try shows. Returns what the
 * operator should know of one that can.
 */
export async function checkSandbox(definition: Definition, path: string | undefined): Promise<readonly string[]> {
  switch (definition.runtime.sandbox) {
    case 'none':
      return [];
    case 'bwrap':
      await checkBwrap(path);
      return [];
    case 'container': {
      const { checkContainers } = await import('./containers.ts');
      return checkContainers(definition);
    }
  }
}

async function checkBwrap(path: string | undefined): Promise<void> {
  const neededBy = 'runtime.sandbox: bwrap';
  await checkProgram(
    { name: 'bwrap', neededBy, oldest: '0.4', askVersion: ['--version'], howToInstall: noBwrap.repair },
    path,
  );
  try {
    await promisify(execFile)('bwrap', trial, { env: { PATH: path }, timeout: tryTimeoutMs });
  } catch (cause) {
    const words = cause instanceof Error && 'stderr' in cause ? String(cause.stderr) : '';
    const { what, repair } = explainBwrap(words);
    throw new SvcError('unavailable', `${neededBy} cannot be had here: ${what}.`, { hint: repair, cause });
  }
}
