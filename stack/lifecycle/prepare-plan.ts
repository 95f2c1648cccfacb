import { randomInt } from 'node:crypto';
import { checkGraph } from '../graph/check-graph.ts';
import { type KeptBy, keptInFiles, leftGraph, membersOf, refuseFewerNodes } from '../graph/graph-data.ts';
import { isFree } from '../machine/is-free.ts';
import { describeHolder } from '../machine/port-holder.ts';
import { checkEnvironment, withoutEffect } from '../parts/environment.ts';
import type { Plan } from '../plan/plan.ts';
import { claimPorts } from '../ports/claim-ports.ts';
import { leasedPorts, readLease } from '../ports/port-lease.ts';
import { checkSecrets, missingSecrets } from '../secrets/ensure-secrets.ts';
import { readSecret } from '../secrets/secrets.ts';
import { addressesOf, frontNotices } from '../settings/addresses.ts';
import { readDefinition } from '../settings/check.ts';
import type { Definition } from '../settings/definition.ts';
import type { Ports, PortWish } from '../settings/ports.ts';
import type { Installation } from '../state/installation.ts';
import { checkMachine } from './check-machine.ts';

/** The plans that engines make of definitions. */
export interface Planner {
  readonly portWishesOf: (definition: Definition) => readonly PortWish[];
  readonly planFor: (installation: Installation, definition: Definition, ports: Ports) => Plan;
}

export interface Preparation {
  readonly installation: Installation;
  readonly planner: Planner;
  /** The settings after a move; default: those of svc.yaml. */
  readonly definition?: Definition;
  /** Refuses what this machine lacks. Returns notices for the operator. */
  readonly check?: (definition: Definition) => Promise<readonly string[]>;
  readonly checkPorts?: (definition: Definition, ports: Ports) => Promise<void>;
  /** Whether the running platform has a port, which is free once it stops. */
  readonly ownsPort: (port: number) => boolean;
  /** How long a port may take to become free: after a kill the process ends a moment before its ports are free. */
  readonly portPatienceMs?: number;
  /** The location and presence of stored graphs; default: in data/. */
  readonly keptBy?: KeptBy;
  /** Ports that `auto` must not choose. */
  readonly avoid: ReadonlySet<number>;
  readonly onNotice: (message: string) => void;
}

/** The range of skips after a lost race for a port, so that platforms do not collide again. */
const skipMax = 100;

/** Finds all problems before anything is written, started or stopped. `makeReady` creates missing files. */
export async function preparePlan(preparation: Preparation): Promise<Plan> {
  const { installation, planner, check, checkPorts, ownsPort, portPatienceMs = 0, avoid, onNotice } = preparation;
  const { definition = readDefinition(installation.definitionFile), keptBy = keptInFiles(installation) } = preparation;
  await checkMachine(installation, definition);
  refuseFewerNodes(keptBy, definition);
  const aboutMachine = (await check?.(definition)) ?? [];
  checkSecrets(installation, definition);
  const leased = readLease(installation);
  const wishes = planner.portWishesOf(definition);
  const { ports, notices } = await claimPorts({
    wishes,
    leased,
    members: membersOf(definition, keptBy),
    avoid,
    skip: avoid.size === 0 ? 0 : randomInt(skipMax),
    isFree: async (port, host) => ownsPort(port) || (await isFree(host, port, portPatienceMs)),
    holderOf: describeHolder,
  });
  const plan = planner.planFor(installation, definition, ports);
  const missing = missingSecrets(installation, definition);
  checkEnvironment(plan.parts, (file) => (missing.has(file) ? undefined : readSecret(file)));
  await checkPorts?.(definition, ports);
  const left = preparation.definition === undefined ? leftGraph(definition, keptBy) : [];
  const aboutGraph = [...(await checkGraph(plan)), ...left];
  const about = [...notices, ...aboutMachine, ...frontNotices(definition), ...aboutGraph];
  for (const notice of [...about, ...withoutEffect(plan.parts)]) onNotice(notice);
  const before = addressesOf(definition, leasedPorts(installation, wishes)).public.mcp;
  const after = plan.addresses.public.mcp;
  // Before the first start there were no agents.
  if (leased['remote-mcp'] !== undefined && before !== after) {
    onNotice(`Give agents that use ${before} the new address ${after}.`);
  }
  return plan;
}
