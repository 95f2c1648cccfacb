import { randomInt } from 'node:crypto';
import type { EnvRecord } from '../../services/contracts/env/check.ts';
import { addressesOf } from '../addresses.ts';
import { checkPrograms } from '../check-programs.ts';
import { checkSecrets } from '../check-secrets.ts';
import { planFor, portWishesOf } from '../engines/plan-of.ts';
import { missingSecrets } from '../ensure-secrets.ts';
import { checkFrontPorts } from '../front/check-front-ports.ts';
import { frontNotices } from '../front/front-notices.ts';
import { checkGraph } from '../graph/check-graph.ts';
import { type KeptBy, keptInFiles } from '../graph/kept-by.ts';
import { leftGraph } from '../graph/left-graph.ts';
import { refuseFewerNodes } from '../graph/refuse-fewer-nodes.ts';
import type { Installation } from '../installation.ts';
import { checkEnvironment, withoutEffect } from '../parts/check-environment.ts';
import type { Plan } from '../plan/plan.ts';
import { portOf } from '../port-of.ts';
import { claimPorts } from '../ports/claim-ports.ts';
import { isFree } from '../ports/is-free.ts';
import { describeHolder, findPortHolder } from '../ports/port-holder.ts';
import { leasedPorts, readLease } from '../ports/port-lease.ts';
import { readSecret } from '../secrets.ts';
import { readDefinition } from '../settings/check.ts';
import { checkMachine } from '../settings/check-machine.ts';
import type { Definition } from '../settings/definition.ts';
import type { RunningPlatform } from '../state/find-running.ts';
import { readRecord } from '../state/platform-record.ts';

export interface Preparation {
  readonly installation: Installation;
  /** What svc.yaml shall say once everything is moved; default: what it says. */
  readonly definition?: Definition;
  /** Of the shell that typed it: programs are found through it. */
  readonly env: EnvRecord;
  readonly running: RunningPlatform | null;
  /** Ports of this machine that containers of this installation have. */
  readonly held?: ReadonlySet<number>;
  /** Where graphs are kept, and whether they are; default: in data/. */
  readonly keptBy?: KeptBy;
  /** Ports that `auto` shall not become. */
  readonly avoid: ReadonlySet<number>;
  readonly onNotice: (message: string) => void;
}

/** How far apart platforms land that lost a race for the same port. */
const skipMax = 100;

/** A process that was killed is gone a moment before its ports are. */
const lettingGoMs = 1000;

/** Finds everything that is wrong before anything is written, started or stopped. `makeReady` makes what is missing. */
export async function preparePlan(preparation: Preparation): Promise<Plan> {
  const { installation, env, running, held = new Set(), avoid, onNotice } = preparation;
  const { definition = readDefinition(installation.definitionFile), keptBy = keptInFiles(installation) } = preparation;
  await checkMachine(installation, definition);
  refuseFewerNodes(keptBy, definition);
  const aboutPrograms = await checkPrograms(definition, env.PATH);
  checkSecrets(installation, definition);
  const wasKilled = running === null && readRecord(installation) !== null;
  const leased = readLease(installation);
  const wishes = portWishesOf(definition);
  const { ports, notices } = await claimPorts({
    wishes,
    leased,
    avoid,
    skip: avoid.size === 0 ? 0 : randomInt(skipMax),
    isFree: async (port, host) =>
      held.has(port) ||
      (running !== null && hasPort(running, port)) ||
      (await isFree(host, port, wasKilled ? lettingGoMs : 0)),
    holderOf: describeHolder,
  });
  const plan = planFor(installation, definition, ports);
  const missing = missingSecrets(installation, definition);
  checkEnvironment(plan.parts, (file) => (missing.has(file) ? undefined : readSecret(file)));
  await checkFrontPorts(definition, ports, env.PATH);
  const left = preparation.definition === undefined ? leftGraph(definition, keptBy) : [];
  const aboutGraph = [...(await checkGraph(plan)), ...left];
  const about = [...notices, ...aboutPrograms, ...frontNotices(definition), ...aboutGraph];
  for (const notice of [...about, ...withoutEffect(plan.parts)]) onNotice(notice);
  const before = addressesOf(definition, leasedPorts(installation, wishes)).public.mcp;
  const after = plan.addresses.public.mcp;
  // Before the first start there were no agents.
  if (leased['remote-mcp'] !== undefined && before !== after) {
    onNotice(`Agents that use ${before} must be given ${after}.`);
  }
  return plan;
}

/** What it has is free once it is stopped. */
function hasPort({ pid, record }: RunningPlatform, port: number): boolean {
  if (record === null) return findPortHolder(port)?.pid === pid;
  const { services } = record;
  if (services.some(({ url, ready }) => [url, ready.url].some((one) => portOf(one) === port))) return true;
  // A part may listen on more ports than it is reached on.
  const holder = findPortHolder(port)?.pid;
  return services.some(({ process }) => process !== null && process.pid === holder);
}
