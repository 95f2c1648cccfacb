import { SvcError } from '../../../services/contracts/errors.ts';
import { bwrapNamespaces, explainBwrap, formerNone, noBwrap } from '../../../services/contracts/sandbox.ts';
import { askProgram } from '../../machine/ask-program.ts';
import { checkProgram } from '../../machine/check-program.ts';
import type { Definition } from '../../settings/definition.ts';

const tryTimeoutMs = 10_000;
/** What a sandbox needs, without hiding anything of the machine. */
const trial = [...bwrapNamespaces, ...'--ro-bind / / --proc /proc --dev /dev --tmpfs /tmp true'.split(' ')];

/** Refuses a sandbox that this machine cannot make: systems forbid it in ways that only a trial shows. */
export async function checkSandbox(definition: Definition, path: string | undefined): Promise<readonly string[]> {
  switch (definition.runtime.sandbox) {
    case 'none-for-everybody':
    case 'auto':
    case formerNone:
      return [];
    case 'bwrap':
      await checkBwrap('runtime.sandbox: bwrap', path);
      return [];
    case 'container': {
      const { checkContainers } = await import('./containers.ts');
      return checkContainers(definition);
    }
  }
}

/** What members' commands get on this machine. A machine without a sandbox is not refused. */
export async function adviseOnMembers(
  { engine, runtime }: Definition,
  path: string | undefined,
): Promise<readonly string[]> {
  if (runtime.sandbox !== 'auto' && runtime.sandbox !== formerNone) return [];
  if (engine === 'docker') return ["With engine: docker, members' commands are refused. Operators' commands run."];
  try {
    await checkBwrap('A command that a member sets', path);
    return [];
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    return [`${error.message} Members' commands are refused here. Operators' commands run. ${error.hint ?? ''}`.trim()];
  }
}

async function checkBwrap(neededBy: string, path: string | undefined): Promise<void> {
  await checkProgram(
    { command: 'bwrap', neededBy, oldest: '0.4', askVersion: ['--version'], howToInstall: noBwrap.repair },
    path,
  );
  const { failed, stderr } = await askProgram('bwrap', trial, { env: { PATH: path }, timeoutMs: tryTimeoutMs });
  if (!failed) return;
  const { what, repair } = explainBwrap(stderr);
  throw new SvcError('unavailable', `${neededBy} does not work on this machine: ${what}.`, { hint: repair });
}
