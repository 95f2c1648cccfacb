import type { EnvRecord } from '../../../services/contracts/env/check.ts';
import { keepsBlobs } from '../../content/place.ts';
import { planOf } from '../../engines/plan-of.ts';
import type { Progress } from '../../lifecycle/progress.ts';
import type { Plan } from '../../plan/plan.ts';
import { hasOwnBus } from '../../settings/definition.ts';
import type { Installation } from '../../state/installation.ts';
import { placesOf } from './fill-places.ts';
import { type ReplaceProgress, replaceData } from './replace.ts';
import { forgetReplacement, type Replacement, refuseWaiting } from './replacement.ts';

export interface ChangeOfNodes {
  readonly installation: Installation;
  /** The plan with the number of NATS nodes before. */
  readonly from: Plan;
  readonly to: Plan;
  readonly wasRunning: boolean;
  readonly env: EnvRecord;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
}

/** The same platform with the number of NATS nodes that kept what the bus has; null if that is the number of the plan. */
export async function planOfOtherNodes(
  plan: Plan,
  { installation, env, signal }: Pick<ChangeOfNodes, 'installation' | 'env' | 'signal'>,
): Promise<Plan | null> {
  const { definition } = plan;
  if (!hasOwnBus(definition)) return null;
  const nats = definition.replicas.nats === 1 ? 3 : 1;
  const other = planOf(installation, { ...definition, replicas: { ...definition.replicas, nats } });
  const keepsBus = async (one: Plan) => (await placesOf(one, { env, signal, onNotice: () => undefined })).keepsBus();
  if ((await keepsBus(plan)) || !(await keepsBus(other))) return null;
  refuseWaiting(installation);
  return other;
}

/** Carries what the bus keeps from one number of NATS nodes to another. The platform does not run, and nobody goes back to the number before. */
export async function changeNodes(change: ChangeOfNodes): Promise<void> {
  const { installation, from, to, onProgress } = change;
  const kinds = { bus: true, graph: false, blobs: keepsBlobs(to) };
  const replacement = await replaceData({
    ...{ ...change, command: 'nodes', definition: null, kinds, restored: null },
    onProgress: withoutSteps(onProgress),
  });
  forgetReplacement(installation, replacement);
  const [then, now] = [from, to].map(({ definition }) => definition.replicas.nats);
  const counted = countsOf(to, replacement.moved);
  const kept = counted.length === 0 ? '' : `, with what it kept: ${counted.join(', ')}`;
  onProgress({ kind: 'notice', message: `The bus has ${now} in the place of ${then} nodes${kept}.` });
}

/** A start has other steps than a replacement. */
function withoutSteps(onProgress: ChangeOfNodes['onProgress']) {
  return (progress: ReplaceProgress) => {
    if (progress.kind !== 'step') onProgress(progress);
  };
}

function countsOf(plan: Plan, moved: Replacement['moved']): readonly string[] {
  const count = (kind: string) => moved.find((one) => one.kind === kind)?.count ?? 0;
  return [
    ...(plan.definition.bus.persistentMessaging
      ? [`${count('bus.usage')} usage records`, `${count('bus.sessions')} sessions`]
      : []),
    ...(keepsBlobs(plan) ? [`${count('files')} files`] : []),
  ];
}
