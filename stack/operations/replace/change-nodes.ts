import { keepsBlobs } from '../../content/place.ts';
import { planOf } from '../../engines/plan-of.ts';
import type { Progress } from '../../lifecycle/progress.ts';
import type { Plan } from '../../plan/plan.ts';
import { hasOwnBus } from '../../settings/definition.ts';
import { placesOf } from './fill-places.ts';
import { type ReplaceOptions, replaceData } from './replace.ts';
import { forgetReplacement, type Replacement, refuseWaiting } from './replacement.ts';

/** The same platform with the number of NATS nodes that kept what the bus has; null if that is the number of the plan. */
export async function planOfOtherNodes(
  plan: Plan,
  { env, signal }: Pick<ChangeOfNodes, 'env' | 'signal'>,
): Promise<Plan | null> {
  const { installation, definition } = plan;
  if (!hasOwnBus(definition)) return null;
  const nats = definition.replicas.nats === 1 ? 3 : 1;
  const other = planOf(installation, { ...definition, replicas: { ...definition.replicas, nats } });
  const keepsBus = async (one: Plan) => (await placesOf(one, { env, signal, onNotice: () => undefined })).keepsBus();
  if ((await keepsBus(plan)) || !(await keepsBus(other))) return null;
  refuseWaiting(installation);
  return other;
}

/** `from` is the plan with the number of NATS nodes before. A start has other steps than a replacement, and hears none of them. */
type ChangeOfNodes = Omit<ReplaceOptions, 'command' | 'definition' | 'kinds' | 'restored' | 'onProgress'> & {
  readonly onProgress: (progress: Progress) => void;
};

/** Carries what the bus keeps from one number of NATS nodes to another. The platform does not run, and the change is not undone. */
export async function changeNodes(change: ChangeOfNodes): Promise<void> {
  const { from, to, onProgress } = change;
  const kinds = { bus: true, graph: false, blobs: keepsBlobs(to) };
  const replacement = await replaceData({
    ...{ ...change, command: 'nodes', definition: null, kinds, restored: null },
    onProgress: (progress) => progress.kind !== 'step' && onProgress(progress),
  });
  forgetReplacement(to.installation, replacement);
  const [then, now] = [from, to].map(({ definition }) => definition.replicas.nats);
  const counted = countsOf(to, replacement.moved);
  const kept = counted.length === 0 ? '' : `, with its data: ${counted.join(', ')}`;
  onProgress({
    kind: 'notice',
    message: `The bus has ${now} ${now === 1 ? 'node' : 'nodes'} in place of ${then}${kept}.`,
  });
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
