import type { EnvRecord } from '../../services/contracts/env/check.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import { inWords } from '../../services/contracts/system-words.ts';
import type { Engine, EngineStart, Prepared } from '../engines/engine.ts';
import { chosenEngine, isUp } from '../engines/engine-of.ts';
import { makeReady, preparePlan } from '../engines/prepare-plan.ts';
import type { Progress, UpResult } from '../lifecycle/progress.ts';
import { awaitCertificate } from '../lifecycle/served-certificate.ts';
import { describeFewFiles } from '../machine/open-files.ts';
import { type StartEmpty, settleLosses } from '../place/losses.ts';
import { settlePlace } from '../place/settle-place.ts';
import type { Plan } from '../plan/plan.ts';
import { isLostPort } from '../ports/claim-ports.ts';
import { hasOwnBus } from '../settings/definition.ts';
import { findRunning } from '../state/find-running.ts';
import { ensurePrivateFolder } from '../state/folder.ts';
import type { Installation } from '../state/installation.ts';
import { acquireLock } from '../state/lock.ts';
import { becomeCopy } from './become-copy.ts';
import { noteForUser } from './note-installation.ts';
import { settleReplacement } from './replace/settle-replacement.ts';
import { partsNamed, refuseOtherChanges } from './restart.ts';

export interface UpOptions {
  readonly installation: Installation;
  /** Of the shell that typed it: programs and proxies are found through it, and nothing else of it is passed on. */
  readonly env: EnvRecord;
  /** Runs the platform inside this process until `signal` aborts; `up` then resolves when it has stopped. */
  readonly foreground?: boolean;
  /** Gives a copied folder an identity of its own first. */
  readonly asCopy?: boolean;
  /** Asked before a start without data that is gone; without it such a start is refused. */
  readonly startEmpty?: StartEmpty;
  /** Services that restart although they run as planned, or all of them. The platform must run. */
  readonly restart?: readonly string[] | 'all';
  readonly onProgress?: (progress: Progress) => void;
  /** In the background it ends the wait and stops what this call started. */
  readonly signal?: AbortSignal;
}

/** How often a start is repeated because another program took a port after the plan was made. */
const attemptsMax = 5;

/** Makes the platform run as svc.yaml says. Run again, it changes what differs, or nothing. */
export async function up(options: UpOptions): Promise<UpResult> {
  const { installation, env, foreground = false, onProgress = () => undefined } = options;
  const signal = options.signal ?? new AbortController().signal;
  ensurePrivateFolder(installation.stateDir);
  using lock = acquireLock(installation, 'command');
  const avoid = new Set<number>();
  const onNotice = (message: string) => onProgress({ kind: 'notice', message });
  const few = describeFewFiles();
  if (few !== null) onNotice(few);
  const startEmpty = options.startEmpty ?? null;
  const restart = options.restart ?? [];
  const shared = { installation, env, foreground, startEmpty, onProgress, signal, avoid };
  const start = { ...shared, restart, release: () => lock.release() };
  if (options.restart !== undefined) refuseStopped(installation);
  if (options.asCopy) await becomeCopy(installation, { startEmpty, onNotice });
  settlePlace(installation, onNotice);
  noteForUser(installation, env);
  for (let attempt = 1; ; attempt++) {
    try {
      await settleReplacement(installation, { env, onNotice });
      return await bringUp(start);
    } catch (error) {
      if (!isLostPort(error) || attempt === attemptsMax) throw error;
    }
  }
}

function refuseStopped(installation: Installation): void {
  if (isUp(installation)) return;
  throw new SvcError('unavailable', `The platform in "${installation.dir}" is not running.`, {
    hint: 'Start it: svc up',
  });
}

export interface BringUp extends Omit<EngineStart, 'onNotice' | 'onState'> {
  /** As in `UpOptions`. */
  readonly restart: readonly string[] | 'all';
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
  const { plan, survey, prepared } = await prepare(engine, start, options);
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
        // The platform runs, so that only its status is missing.
        if (!signal.aborted) start.onNotice(`The status cannot be shown: ${inWords(error)}`);
      });
  await Promise.all([shown, ended]);
  return { outcome: 'stopped', changes, status: await engine.inspect({ installation, readPlan: () => plan }) };
}

/** Finds everything that is wrong and makes what is missing, before any part starts or stops. */
async function prepare(engine: Engine, start: EngineStart, { avoid, restart }: Pick<BringUp, 'avoid' | 'restart'>) {
  const { installation, env, startEmpty, onNotice } = start;
  const survey = await engine.survey(start);
  const plan = await preparePlan({ installation, env, survey, avoid, onNotice });
  const names = partsNamed(restart, plan);
  const runningPid = findRunning(installation)?.pid ?? null;
  const given = await settleLosses(await survey.findLosses(plan), { startEmpty, runningPid, onNotice });
  await survey.forget(given, plan);
  await makeReady(plan, onNotice);
  const prepared = await survey.prepare(plan, names);
  if (restart !== 'all') refuseOtherChanges(prepared, names);
  return { plan, survey, prepared };
}

/** Stops a platform that cannot change while it runs. What another number of NATS nodes kept is carried to those of the plan. */
async function stopWhereNeeded(to: Plan, prepared: Prepared, options: BringUp): Promise<void> {
  const wasRunning = isUp(options.installation);
  // Loaded on use: it opens every kind of content, and a platform in one process has no such nodes.
  const nodes = hasOwnBus(to.definition) ? await import('./replace/change-nodes.ts') : null;
  const from = (await nodes?.planOfOtherNodes(to, options)) ?? null;
  if (prepared.mustStop || from !== null) await prepared.stop();
  if (from !== null) await nodes?.changeNodes({ ...options, from, to, wasRunning });
}
