import { randomInt } from 'node:crypto';
import type { EnvRecord } from '../../services/contracts/env/check.ts';
import { addressesOf } from '../addresses.ts';
import { checkBus } from '../bus/check-bus.ts';
import { checkPrograms } from '../check-programs.ts';
import { ensureFolders } from '../create-installation.ts';
import { readDefinition } from '../definition/check.ts';
import { checkMachine } from '../definition/check-machine.ts';
import type { Definition } from '../definition/definition.ts';
import { checkEnvironment, withoutEffect } from '../environment.ts';
import { checkFrontPorts } from '../front/check-front-ports.ts';
import { frontNotices } from '../front/front-notices.ts';
import { checkGraph } from '../graph/check-graph.ts';
import { type KeptBy, keptInFiles } from '../graph/kept-by.ts';
import { leftGraph } from '../graph/left-graph.ts';
import { refuseFewerNodes } from '../graph/refuse-fewer-nodes.ts';
import type { Installation } from '../installation.ts';
import { portOf } from '../port-of.ts';
import { claimPorts } from '../ports/claim-ports.ts';
import { isFree } from '../ports/is-free.ts';
import { describeHolder, findPortHolder } from '../ports/port-holder.ts';
import { leasedPorts, readLease } from '../ports/port-lease.ts';
import { portWishesOf } from '../ports/port-wishes.ts';
import { readSecret } from '../secrets.ts';
import type { RunningPlatform } from '../state/find-running.ts';
import { type Plan, planFor } from './plan.ts';
import { clearStaleRecord } from './running-platform.ts';

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

/** Repairs what can be repaired and finds everything that is wrong, before anything is started or stopped. */
export async function preparePlan(preparation: Preparation): Promise<Plan> {
  const { installation, env, running, held = new Set(), avoid, onNotice } = preparation;
  const { definition = readDefinition(installation.definitionFile), keptBy = keptInFiles(installation) } = preparation;
  await checkMachine(installation, definition);
  refuseFewerNodes(keptBy, definition);
  const aboutPrograms = await checkPrograms(definition, env.PATH);
  for (const { path, outcome, detail } of ensureFolders(installation, definition)) {
    if (outcome === 'created') onNotice(`${path} was missing and was made.`);
    if (outcome === 'repaired') onNotice(`${path} was repaired: ${detail}.`);
  }
  const cleared = running === null ? await clearStaleRecord(installation) : null;
  if (cleared !== null) onNotice(cleared);
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
      (await isFree(host, port, cleared === null ? 0 : lettingGoMs)),
    holderOf: describeHolder,
  });
  const plan = planFor(installation, definition, ports);
  checkEnvironment(plan.environment, readSecret);
  await checkFrontPorts(definition, ports, env.PATH);
  await checkBus(plan);
  const left = preparation.definition === undefined ? leftGraph(definition, keptBy) : [];
  const aboutGraph = [...(await checkGraph(plan)), ...left];
  const about = [...notices, ...aboutPrograms, ...frontNotices(definition), ...aboutGraph];
  for (const notice of [...about, ...withoutEffect(plan.environment)]) onNotice(notice);
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
  if (services.some(({ url, readyUrl }) => [url, readyUrl].some((one) => portOf(one) === port))) return true;
  // A part may listen on more ports than it is reached on.
  const holder = findPortHolder(port)?.pid;
  return services.some(({ process }) => process !== null && process.pid === holder);
}
