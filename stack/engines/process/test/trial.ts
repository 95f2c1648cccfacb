import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createInstallation } from '../../../operations/create-installation.ts';
import { down } from '../../../operations/down.ts';
import type { Installation } from '../../../state/installation.ts';
import { type PlatformRecord, readRecord, type ServiceRecord } from '../../../state/platform-record.ts';
import { isAlive, startTimeOf } from '../../../state/process-identity.ts';
import { editDefinition } from '../../../test/edit-definition.ts';
import { freePorts } from '../../../test/free-ports.ts';
import { until } from '../../../test/until.ts';
import { readPlan } from '../../plan-of.ts';
import { type Patience, usualPatience } from '../patience.ts';
import { runPlatform } from '../run-platform.ts';
import { makePrograms, programsIn } from './programs.ts';

/** The behaviour of a trial's parts, by service. A part without an entry behaves well. */
export type Behaviours = Readonly<
  Partial<Record<'backend' | 'remote-mcp' | 'runtime' | 'frontend' | 'nats-server' | 'caddy', Behaviour>>
>;

export interface Behaviour {
  /** Prints this text and ends at once. */
  readonly crash?: string;
  readonly notReady?: true;
  /** Ignores SIGTERM. */
  readonly deaf?: true;
  /** Starts a child that never ends by itself. */
  readonly child?: true;
}

/** Short deadlines, for tests that wait until a deadline has passed. */
export const hasty: Patience = {
  ...usualPatience,
  hurryMs: 200,
  drainMs: 200,
  restarts: { stableMs: 60_000, triesMax: 3, delayFirstMs: 1, delayMaxMs: 1 },
  folder: { lookMs: 10, goneMaxMs: 200 },
};

/** An installation whose parts are processes of a small program, which listens on the ports of the real parts. */
export async function openProcessTrial(yaml: readonly (readonly [from: string, to: string])[] = []) {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'svc-processes-')));
  const [backend = 0, remoteMcp = 0, runtime = 0, frontend = 0, nats = 0, ...others] = await freePorts(10);
  const ports = { backend, 'remote-mcp': remoteMcp, runtime, frontend };
  const { installation } = await createInstallation({ dir: join(dir, 'svc'), ports, topology: 'distributed' });
  const edit = (from: string, to: string) => editDefinition(installation, from, to);
  edit('  port: auto', `  port: ${nats}`);
  for (const [from, to] of yaml) edit(from, to);
  makePrograms(dir);
  writeFileSync(join(dir, 'tester.pid'), String(process.pid));
  // Random ports, recorded as earlier leases, because other programs may use the usual ports.
  const replicas = ['remote-mcp-1', 'remote-mcp-2', 'remote-mcp-3', 'runtime-2', 'runtime-3'];
  const leased = Object.fromEntries(replicas.map((name, index) => [name, others[index]]));
  writeFileSync(join(installation.stateDir, 'ports.json'), JSON.stringify(leased));
  return {
    dir,
    installation,
    edit,
    programs: programsIn(dir),
    behave: (behaviours: Behaviours) => writeFileSync(join(dir, 'behaviour.json'), JSON.stringify(behaviours)),
    /** The pid of this service's child, which the service wrote to a file. */
    childOf: (service: string) => Number(readFileSync(join(dir, `${service}.child`), 'utf8')),
    async [Symbol.asyncDispose]() {
      await down({ installation });
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

export type ProcessTrial = Awaited<ReturnType<typeof openProcessTrial>>;

/** Supervises the trial in the process of the test, until it stops. */
export function supervise({ installation, programs }: ProcessTrial, patience: Patience = usualPatience) {
  const stopping = new AbortController();
  const states: string[] = [];
  const lastStates = new Map<string, string>();
  const onChange = ({ services }: PlatformRecord) => {
    for (const { name, state } of services) {
      if (lastStates.get(name) !== state) states.push(`${name} ${state}`);
      lastStates.set(name, state);
    }
  };
  const run = runPlatform({
    plan: readPlan(installation),
    env: { PATH: process.env.PATH },
    foreground: false,
    isWanted: () => true,
    signal: stopping.signal,
    onChange,
    programs,
    patience,
  });
  run.catch(() => undefined);
  return {
    run,
    states,
    part: (name: string) => partOf(installation, name),
    async stop() {
      stopping.abort();
      await run;
    },
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await run.catch(() => undefined);
    },
  };
}

/** A trial whose parts are healthy, supervised in the process of the test. */
export async function openSupervised(patience: Patience = usualPatience, behaviours: Behaviours = {}) {
  await using stack = new AsyncDisposableStack();
  const trial = stack.use(await openProcessTrial());
  trial.behave(behaviours);
  const supervisor = stack.use(supervise(trial, patience));
  await untilHealthy(trial.installation);
  const both = stack.move();
  return { ...trial, ...supervisor, [Symbol.asyncDispose]: () => both.disposeAsync() };
}

export function partOf(installation: Installation, name: string): ServiceRecord {
  const found = readRecord(installation)?.services.find((service) => service.name === name);
  if (found === undefined) throw new Error(`the record says nothing about ${name}`);
  return found;
}

export async function untilHealthy(installation: Installation): Promise<void> {
  await until(() => {
    const record = readRecord(installation);
    return record !== null && !record.isChanging && record.services.every(({ state }) => state === 'healthy');
  });
}

export function livingPids(installation: Installation): readonly number[] {
  const services = readRecord(installation)?.services ?? [];
  return services.flatMap(({ process }) => (process !== null && isAlive(process) ? [process.pid] : []));
}

/** The pids in the list whose processes still run. */
export const running = (pids: readonly number[]) => pids.filter((pid) => startTimeOf(pid) !== null);

/** The supervisor of a trial as a program, which a test can kill. The end of the trial ends it. */
export const supervisorProgram = fileURLToPath(new URL('./supervisor.ts', import.meta.url));
