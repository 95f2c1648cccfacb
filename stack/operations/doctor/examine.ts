import { toSvcError } from '../../../services/contracts/errors.ts';
import { readPlan } from '../../engines/plan-of.ts';
import type { Plan } from '../../plan/plan.ts';
import { checkClock } from './clock.ts';
import { checkDisk } from './disk.ts';
import { checkModes, checkSecretsOf } from './files.ts';
import { type Examined, type Finding, type Found, failed, ok, type Planned } from './finding.ts';
import { checkOpenFiles } from './open-files.ts';
import { checkPath } from './path.ts';
import { checkPlatform } from './platform.ts';
import { checkPorts } from './ports.ts';
import { checkNode, checkPrograms } from './programs.ts';
import { checkPublicAddress } from './public-address.ts';
import { checkRegistries } from './registries.ts';

interface Check<Needs> {
  readonly name: string;
  readonly run: (examined: Needs) => Promise<readonly Found[]>;
}

const ofMachine: readonly Check<Examined>[] = [
  { name: 'Node', run: checkNode },
  { name: 'disk', run: checkDisk },
  { name: 'open files', run: checkOpenFiles },
  { name: 'clock', run: checkClock },
  { name: 'file modes', run: checkModes },
  { name: 'registries', run: checkRegistries },
];

const ofPlan: readonly Check<Planned>[] = [
  { name: 'programs', run: checkPrograms },
  { name: 'PATH', run: checkPath },
  { name: 'secrets', run: checkSecretsOf },
  { name: 'ports', run: checkPorts },
  { name: 'public address', run: checkPublicAddress },
  { name: 'platform', run: checkPlatform },
];

/** Checks the installation and its machine, and changes nothing. A check that fails does not end the others. */
export async function* examine(examined: Examined): AsyncGenerator<Finding> {
  let plan: Plan | null = null;
  const readSettings = async () => {
    plan = readPlan(examined.installation);
    return [ok(`${examined.installation.definitionFile} is right.`)];
  };
  yield* findingsOf({ name: 'svc.yaml', run: readSettings }, examined);
  for (const check of ofMachine) yield* findingsOf(check, examined);
  if (plan !== null) for (const check of ofPlan) yield* findingsOf(check, { ...examined, plan });
}

async function* findingsOf<Needs extends Examined>(
  { name, run }: Check<Needs>,
  examined: Needs,
): AsyncGenerator<Finding> {
  examined.signal.throwIfAborted();
  try {
    for (const found of await run(examined)) yield { check: name, ...found };
  } catch (error) {
    const { code, message, hint } = toSvcError(error);
    if (code === 'cancelled') throw error;
    yield { check: name, ...failed(message, hint ?? 'Show more: set SVC_DEBUG=1 and run svc doctor again.') };
  }
}
