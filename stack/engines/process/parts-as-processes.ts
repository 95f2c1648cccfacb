import { join, resolve } from 'node:path';
import type { EnvRecord } from '../../../services/contracts/env/check.ts';
import { hostOf } from '../../../services/contracts/host-of.ts';
import { founderOf, isMember, waitForLeader } from '../../graph/cluster-leader.ts';
import { boundLog, type LogBound } from '../../logs/bound-log.ts';
import { versionOf } from '../../machine/check-program.ts';
import { isFree } from '../../machine/is-free.ts';
import { describeHolder } from '../../machine/port-holder.ts';
import { portOf } from '../../machine/port-of.ts';
import { type ForeignProgram, listensAt, type Part } from '../../parts/part.ts';
import { metaFileOf } from '../../place/node-data.ts';
import type { Plan } from '../../plan/plan.ts';
import { readSecret } from '../../secrets/secrets.ts';
import { loopback } from '../../settings/ports.ts';
import { writeWhole } from '../../state/durable-file.ts';
import { killGroup } from '../../state/end-process.ts';
import { takenPort } from './failure.ts';
import { holdProcess, type ProcessEnd } from './held-process.ts';
import type { Ending, PartRunner, ProcessListener, RunningPart } from './part-runner.ts';
import type { Patience } from './patience.ts';
import { foundProgram, logOf, type Programs, processPlanOf } from './process-plan.ts';
import { runningProcess } from './running-process.ts';

export interface ProcessesOptions {
  readonly plan: Plan;
  /** The environment of the supervisor. */
  readonly env: EnvRecord;
  readonly programs: Programs;
  readonly patience: Patience;
}

/** A log may exceed its limit by the lines of this time. */
const boundIntervalMs = 200;

/** Runs every part in a process of its own. */
export function runAsProcesses({ plan, env, programs, patience }: ProcessesOptions): PartRunner {
  const { installation, definition } = plan;
  const bound = { sizeMaxBytes: definition.logs.fileSizeMaxMb * 1024 * 1024, filesKept: definition.logs.filesKept };
  const timer = setInterval(() => {
    for (const { name } of plan.parts) boundIfPossible(logOf(installation, name), bound);
  }, boundIntervalMs);

  async function prepareForeign(program: ForeignProgram): Promise<void> {
    const { askVersion, configuration } = program;
    const version = askVersion === undefined ? null : await versionOf(foundProgram(program, programs), askVersion);
    const text = configuration.write({ readSecret, admins: loopback, version });
    writeWhole(join(installation.stateDir, configuration.name), text);
  }

  async function awaitFounder(part: Part, signal: AbortSignal): Promise<void> {
    const founder = founderOf(part, plan.parts);
    if (founder === null) return;
    if (isMember(resolve(installation.dir, part.variables.DATA ?? '', metaFileOf(part.name)))) return;
    const url = founder.ready.url.replace('http:', 'https:');
    const ca = readSecret(plan.secrets.graphNodeCertificate);
    await waitForLeader({ url, ca, timeoutMs: part.limits.startMaxMs, signal });
  }

  async function spawnPart(part: Part, { born, signal }: ProcessListener): Promise<RunningPart> {
    if (part.program.kind === 'foreign') await prepareForeign(part.program);
    await awaitFounder(part, signal);
    await refuseTakenPorts(part);
    const held = holdProcess(processPlanOf(part, { installation, env, programs }));
    try {
      born(held.identity);
    } catch (error) {
      killGroup(held.identity);
      throw error;
    }
    held.begin();
    const ended = held.ended.then((how) => endingOf(part, how));
    return runningProcess({ process: held.identity, ready: part.ready, ended, patience });
  }

  return { start: spawnPart, close: async () => clearInterval(timer) };
}

async function endingOf(part: Part, { reason, code }: ProcessEnd): Promise<Ending> {
  // A part that a signal ended did not end because of its port.
  if (code === null) return { reason, portTaken: false };
  const free = await Promise.all(listensAt(part).map((one) => isPortFree(one)));
  return { reason, portTaken: free.includes(false) };
}

/** The kernel frees the port of a killed process a moment after the process is gone. */
const portPatienceMs = 1000;

/**
 * Another program on a port of a part would answer in its place, and the part would look healthy. Several Caddys even share a port, and each
 * gets some of the requests.
 */
async function refuseTakenPorts(part: Part): Promise<void> {
  for (const address of listensAt(part)) {
    if (await isPortFree(address, portPatienceMs)) continue;
    const port = portOf(address);
    throw takenPort(`Port ${port} of ${part.name} is in use by ${describeHolder(port)}.`);
  }
}

function isPortFree(url: string, patienceMs = 0): Promise<boolean> {
  return isFree(hostOf(url), portOf(url), patienceMs);
}

/** A full disk must not stop a running platform. */
function boundIfPossible(log: string, bound: LogBound): void {
  try {
    boundLog(log, bound);
  } catch {
    // The next turn of the timer tries again.
  }
}
