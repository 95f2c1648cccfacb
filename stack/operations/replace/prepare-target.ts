import type { EnvRecord } from '../../../services/contracts/env/check.ts';
import { engineFor } from '../../engines/engine-of.ts';
import { preparePlan } from '../../engines/prepare-plan.ts';
import type { Plan } from '../../plan/plan.ts';
import { readDefinition } from '../../settings/check.ts';
import type { Definition } from '../../settings/definition.ts';
import type { Installation } from '../../state/installation.ts';

export interface TargetOptions {
  readonly installation: Installation;
  /** What svc.yaml will say. */
  readonly definition: Definition;
  readonly env: EnvRecord;
  readonly signal: AbortSignal;
  readonly onNotice: (message: string) => void;
}

/** Finds everything that is wrong with the platform that gets the data, before anything is written. The running platform keeps its ports. */
export async function prepareTarget({ installation, definition, env, signal, onNotice }: TargetOptions): Promise<Plan> {
  const now = engineFor(readDefinition(installation.definitionFile));
  const start = { installation, env, foreground: false, startEmpty: null, signal, onNotice, onState: () => undefined };
  const { ownsPort, portPatienceMs } = await now.survey(start);
  const survey = { ownsPort, portPatienceMs };
  return preparePlan({ installation, env, definition, survey, avoid: new Set(), onNotice });
}
