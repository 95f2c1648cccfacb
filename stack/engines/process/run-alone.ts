import type { EnvRecord } from '../../../services/contracts/env/check.ts';
import { SvcError, toSvcError } from '../../../services/contracts/errors.ts';
import type { Alone } from '../../content/alone.ts';
import { graphUrlOf } from '../../parts/dgraph-alpha.ts';
import type { Part } from '../../parts/part.ts';
import type { Plan } from '../../plan/plan.ts';
import { startInOrder } from '../../plan/start-in-order.ts';
import type { LeftProcess } from '../../state/left-processes.ts';
import { becomesReady } from './becomes-ready.ts';
import type { RunningPart } from './part-runner.ts';
import { dgraphAlone, natsAlone } from './parts-alone.ts';
import { runAsProcesses } from './parts-as-processes.ts';
import { usualPatience } from './patience.ts';
import { ownPrograms } from './process-plan.ts';

export interface ProcessesAlone {
  readonly plan: Plan;
  /** The data folder of the NATS nodes; null: they do not run. */
  readonly busDir: string | null;
  /** The same for the Dgraph nodes. */
  readonly graphDir: string | null;
  readonly env: EnvRecord;
  /** Called before each process runs its program, so that its id is recorded in time. */
  readonly born: (process: LeftProcess) => void;
  readonly signal: AbortSignal;
}

/** Runs nodes as processes, in the same way as the platform does. */
export async function runProcessesAlone(options: ProcessesAlone): Promise<Alone> {
  const { plan, busDir, graphDir } = options;
  const nats = busDir === null ? [] : await natsAlone(plan, busDir);
  const dgraph = graphDir === null ? [] : dgraphAlone(plan, graphDir);
  const stop = await startAll([...nats, ...dgraph], options);
  const alphas = dgraph.filter(({ service }) => service === 'dgraph-alpha');
  const graph = {
    urls: alphas.map(({ name }) => graphUrlOf(name, plan.site)),
    servers: alphas.map(({ url }) => new URL(url).host),
  };
  return { bus: nats.map(({ url }) => url), graph: alphas.length === 0 ? null : graph, stop };
}

async function startAll(parts: readonly Part[], { plan, env, born, signal }: ProcessesAlone): Promise<Alone['stop']> {
  const runner = runAsProcesses({ plan, env, taken: new Map(), programs: ownPrograms(env), patience: usualPatience });
  const running: RunningPart[] = [];
  const startOne = async (part: Part) => {
    const { name } = part;
    const started = await runner.start(part, { born: (process) => born({ name, process }), signal });
    running.push(started);
    await becomesReady(started, part.limits.startMaxMs, signal).catch((error: unknown) => {
      throw notReady(name, toSvcError(error));
    });
  };
  const stop = async () => {
    for (const part of running.toReversed()) await part.stop('drain');
    await runner.close();
  };
  try {
    await startInOrder(
      parts.map((part) => ({ part })),
      ({ part }) => startOne(part),
    );
    return stop;
  } catch (error) {
    await stop();
    throw error;
  }
}

function notReady(name: string, cause: SvcError): SvcError {
  const hint = `Read its log: svc logs ${name}`;
  return new SvcError(cause.code, `${name} failed to get ready: ${cause.message.replace(/\.$/, '')}.`, { hint, cause });
}
