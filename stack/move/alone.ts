import type { EnvRecord } from '../../services/contracts/env/check.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import type { RunningPart } from '../engines/process/part-runner.ts';
import { runAsProcesses } from '../engines/process/parts-as-processes.ts';
import { usualPatience } from '../engines/process/patience.ts';
import { ownPrograms } from '../engines/process/process-plan.ts';
import type { Plan } from '../lifecycle/plan.ts';
import { waitUntilReady } from '../lifecycle/readiness.ts';
import type { Part } from '../part.ts';
import type { LeftProcess } from '../state/left-processes.ts';

export interface AloneOptions {
  readonly plan: Plan;
  /** Each after those that it needs. */
  readonly parts: readonly Part[];
  readonly env: EnvRecord;
  /** Called before each of them runs, so that it can be found whatever happens to this process. */
  readonly born: (process: LeftProcess) => void;
  readonly signal: AbortSignal;
}

export interface Alone {
  stop(): Promise<void>;
}

/** Runs some parts without the rest of the platform. */
export async function startAlone({ plan, parts, env, born, signal }: AloneOptions): Promise<Alone> {
  const runner = runAsProcesses({ plan, env, taken: new Map(), programs: ownPrograms(env), patience: usualPatience });
  const running: RunningPart[] = [];
  const startOne = async (part: Part) => {
    const { name } = part;
    const started = await runner.start(part, { born: (process) => born({ name, process }) });
    running.push(started);
    await becomesReady(started, part, signal);
  };
  const stop = async () => {
    for (const part of running.toReversed()) await part.stop('drain');
    await runner.close();
  };
  const starting = new Map<string, Promise<void>>();
  for (const part of parts) {
    const needed = Promise.all(part.after.map((name) => starting.get(name)));
    starting.set(
      part.name,
      needed.then(() => startOne(part)),
    );
  }
  // All of them, so that none is still starting when what was started is stopped.
  const failed = (await Promise.allSettled(starting.values())).find((outcome) => outcome.status === 'rejected');
  if (failed === undefined) return { stop };
  await stop();
  throw failed.reason;
}

async function becomesReady({ ended }: RunningPart, { name, readyUrl }: Part, signal: AbortSignal): Promise<void> {
  const failed = ended.then(({ reason }) => {
    throw new SvcError('unavailable', `${name} ${reason}.`, { hint: `Read what it wrote: svc logs ${name}` });
  });
  await Promise.race([waitUntilReady(readyUrl, { timeoutMs: usualPatience.readyMs, signal }), failed]);
}
