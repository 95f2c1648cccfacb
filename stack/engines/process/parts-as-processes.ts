import { join, resolve } from 'node:path';
import type { EnvRecord } from '../../../services/contracts/env/check.ts';
import { founderOf, isMember, waitForLeader } from '../../graph/cluster-leader.ts';
import { boundLog, type LogLimits } from '../../logs/log-file.ts';
import { versionOf } from '../../machine/check-program.ts';
import type { ForeignProgram, Part } from '../../parts/part.ts';
import { metaFileOf } from '../../place/node-data.ts';
import type { Plan } from '../../plan/plan.ts';
import { readSecret } from '../../secrets/secrets.ts';
import { loopback } from '../../settings/ports.ts';
import { writeWhole } from '../../state/durable-file.ts';
import { killGroup } from '../../state/end-process.ts';
import { holdProcess, runningProcess } from './part-process.ts';
import { type PartRunner, type ProcessListener, type RunningPart, refuseTakenPorts } from './part-runner.ts';
import type { Patience } from './patience.ts';
import { foundProgram, logOf, type Programs, processPlanOf } from './process-plan.ts';

export interface ProcessesOptions {
  readonly plan: Plan;
  /** The environment of the supervisor. */
  readonly env: EnvRecord;
  readonly programs: Programs;
  readonly patience: Patience;
}

/** A log may exceed its limit by the lines of this time. */
const boundIntervalMs = 200;

export function runAsProcesses({ plan, env, programs, patience }: ProcessesOptions): PartRunner {
  const { installation, definition } = plan;
  const timer = setInterval(() => {
    for (const { name } of plan.parts) boundIfPossible(logOf(installation, name), definition.logs);
  }, boundIntervalMs);

  async function prepareForeign(program: ForeignProgram): Promise<void> {
    const { askVersion, configuration } = program;
    const version = configuration.dependsOnVersion
      ? await versionOf(foundProgram(program, programs), askVersion)
      : null;
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
    const held = holdProcess(processPlanOf(part, { installation, id: definition.id, env, programs }));
    try {
      born(held.identity);
    } catch (error) {
      killGroup(held.identity);
      throw error;
    }
    held.begin();
    return runningProcess(held.identity, { ready: part.ready, ended: held.ended }, patience);
  }

  return { start: spawnPart, close: async () => clearInterval(timer) };
}

/** A full disk must not stop a running platform. */
function boundIfPossible(log: string, limits: LogLimits): void {
  try {
    boundLog(log, limits);
  } catch {
    // The next turn of the timer tries again.
  }
}
