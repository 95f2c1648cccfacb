import type { Engine, EngineStart, Prepared, Survey } from '../engines/engine.ts';
import { chosenEngine, isUp } from '../engines/engine-of.ts';
import { makeReady, preparePlan } from '../engines/prepare-plan.ts';
import type { Progress, UpResult } from '../lifecycle/progress.ts';
import { awaitCertificate } from '../lifecycle/served-certificate.ts';
import { settleLosses } from '../place/losses.ts';
import type { Plan } from '../plan/plan.ts';
import { findRunning } from '../state/find-running.ts';
import { changeNodes, planOfOtherNodes } from './replace/change-nodes.ts';

export interface BringUp extends Omit<EngineStart, 'onNotice' | 'onState'> {
  readonly onProgress: (progress: Progress) => void;
  /** Ports of an earlier attempt. The program that took one of them is about to take the others. */
  readonly avoid: Set<number>;
  /** Lets other commands use the installation. */
  readonly release: () => void;
}

/** Makes the platform run as svc.yaml says: the one order of a start, for every engine. */
export async function bringUp(options: BringUp): Promise<UpResult> {
  const { installation, foreground, onProgress, signal, avoid, release } = options;
  const engine = chosenEngine(installation);
  const start: EngineStart = {
    ...options,
    onNotice: (message) => onProgress({ kind: 'notice', message }),
    onState: (name, state) => onProgress({ kind: 'service', name, state }),
  };
  const { plan, survey, prepared } = await prepare(engine, start, avoid);
  if (prepared.changes !== null) onProgress({ kind: 'plan', changes: prepared.changes });
  const changes = prepared.changes ?? [];
  const inspect = () => engine.inspect({ installation, readPlan: () => plan, signal });
  const ready = async () => {
    await awaitCertificate(plan, start);
    const status = await inspect();
    onProgress({ kind: 'ready', status });
    return status;
  };
  if (!foreground && (await prepared.isCurrent())) return { outcome: 'unchanged', changes, status: await ready() };
  await prepared.refuseFullDisk();
  await stopWhereNeeded(plan, prepared, options);
  for (const port of Object.values(plan.ports)) if (!survey.ownsPort(port)) avoid.add(port);
  const { ended } = await prepared.apply();
  if (!foreground) return { outcome: prepared.isFresh ? 'started' : 'restarted', changes, status: await ready() };
  release();
  const shown = signal.aborted
    ? null
    : ready().catch((error: unknown) => {
        // The signal came while the status was read.
        if (!signal.aborted) throw error;
      });
  await Promise.all([shown, ended]);
  return { outcome: 'stopped', changes, status: await engine.inspect({ installation, readPlan: () => plan }) };
}

interface Preparation {
  readonly plan: Plan;
  readonly survey: Survey;
  readonly prepared: Prepared;
}

/** Finds everything that is wrong and makes what is missing, before any part starts or stops. */
async function prepare(engine: Engine, start: EngineStart, avoid: ReadonlySet<number>): Promise<Preparation> {
  const { installation, env, startEmpty, onNotice } = start;
  const survey = await engine.survey(start);
  const plan = await preparePlan({ installation, env, survey, avoid, onNotice });
  const runningPid = findRunning(installation)?.pid ?? null;
  const given = await settleLosses(await survey.findLosses(plan), { startEmpty, runningPid, onNotice });
  await survey.forget(given, plan);
  await makeReady(plan, onNotice);
  return { plan, survey, prepared: await survey.prepare(plan) };
}

/** Stops a platform that cannot change while it runs. What another number of NATS nodes kept is carried to those of the plan. */
async function stopWhereNeeded(to: Plan, prepared: Prepared, options: BringUp): Promise<void> {
  const wasRunning = isUp(options.installation);
  const from = await planOfOtherNodes(to, options);
  if (prepared.mustStop || from !== null) await prepared.stop();
  if (from !== null) await changeNodes({ ...options, from, to, wasRunning });
}
