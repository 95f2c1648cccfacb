import { randomInt } from 'node:crypto';
import type { EnvRecord } from '../../services/contracts/env/check.ts';
import { checkBus } from '../bus/check-bus.ts';
import { checkGraph } from '../graph/check-graph.ts';
import { keptInFiles, leftGraph, membersOf, refuseFewerNodes } from '../graph/graph-data.ts';
import { checkMachine } from '../lifecycle/check-machine.ts';
import { isFree } from '../machine/is-free.ts';
import { checkEnvironment, withoutEffect } from '../parts/environment.ts';
import type { Plan } from '../plan/plan.ts';
import { claimPorts } from '../ports/claim-ports.ts';
import { leasedPorts, readLease, writeLease } from '../ports/port-lease.ts';
import { checkSecrets, ensureFolders, missingSecrets } from '../secrets/ensure-folders.ts';
import { readSecret } from '../secrets/secrets.ts';
import { addressesOf, frontNotices } from '../settings/addresses.ts';
import { readDefinition } from '../settings/check.ts';
import type { Definition } from '../settings/definition.ts';
import type { Installation } from '../state/installation.ts';
import { describePortOwner } from '../state/port-owner.ts';
import type { Survey } from './engine.ts';
import { engineFor } from './engine-of.ts';
import { planFor, portWishesOf } from './plan-of.ts';

export interface Preparation {
  readonly installation: Installation;
  readonly env: EnvRecord;
  /** The settings after a move; default: those of svc.yaml. */
  readonly definition?: Definition;
  /** What runs. The location and presence of stored graphs default to data/. */
  readonly survey: Pick<Survey, 'ownsPort' | 'portPatienceMs'> & Partial<Pick<Survey, 'keptBy'>>;
  /** Ports that `auto` must not choose. */
  readonly avoid: ReadonlySet<number>;
  readonly onNotice: (message: string) => void;
}

/** The range of skips after a lost race for a port, so that platforms do not collide again. */
const skipMax = 100;

/** Finds all problems before anything is written, started or stopped. `makeReady` creates missing files. */
export async function preparePlan(preparation: Preparation): Promise<Plan> {
  const { installation, env, survey, avoid, onNotice } = preparation;
  const { definition = readDefinition(installation.definitionFile) } = preparation;
  const { ownsPort, portPatienceMs, keptBy = keptInFiles(installation) } = survey;
  await checkMachine(installation, definition);
  refuseFewerNodes(keptBy, definition);
  checkSecrets(installation, definition);
  const leased = readLease(installation);
  const wishes = portWishesOf(definition);
  // A port that the platform had may be that of a process which has just ended.
  const had = new Set(Object.values(leased));
  const patienceOf = (port: number) => (had.has(port) ? portPatienceMs : 0);
  const { ports, notices } = await claimPorts({
    wishes,
    leased,
    members: membersOf(definition, keptBy),
    avoid,
    skip: avoid.size === 0 ? 0 : randomInt(skipMax),
    isFree: async (port, host) => ownsPort(port) || (await isFree(host, port, patienceOf(port))),
    holderOf: describePortOwner,
  });
  const plan = planFor(installation, definition, ports);
  const missing = missingSecrets(installation, definition);
  checkEnvironment(plan.parts, (file) => (missing.has(file) ? undefined : readSecret(file)));
  const aboutMachine = await engineFor(definition).check(plan, env);
  const left = preparation.definition === undefined ? leftGraph(definition, keptBy) : [];
  const aboutGraph = [...(await checkGraph(plan)), ...left];
  const about = [...notices, ...aboutMachine, ...frontNotices(definition), ...aboutGraph];
  for (const notice of [...about, ...withoutEffect(plan.parts)]) onNotice(notice);
  const before = addressesOf(definition, leasedPorts(installation, wishes)).public;
  for (const name of ['mcp', 'keys'] as const) {
    const after = plan.addresses.public[name];
    // Before the first start there were no agents.
    if (leased['remote-mcp'] === undefined || before[name] === after) continue;
    onNotice(`Give agents that use ${before[name]} the new address ${after}.`);
  }
  return plan;
}

/** Makes missing folders and secrets, and checks an external bus last, because it must accept these keys. */
export async function makeReady(plan: Plan, onNotice: (message: string) => void): Promise<void> {
  const { installation, definition } = plan;
  for (const { path, outcome, detail } of ensureFolders(installation, definition)) {
    if (outcome === 'created') onNotice(`${path} was missing and was created.`);
    if (outcome === 'repaired') onNotice(`${path} was repaired: ${detail}.`);
  }
  keepMovedPorts(plan);
  await checkBus(plan);
}

/** A notice has said that a moved port stays, and the start may still fail or be interrupted. */
function keepMovedPorts({ installation, definition, ports }: Plan): void {
  const leased = readLease(installation);
  const moved = portWishesOf(definition).some(
    ({ name, wanted, usual }) => wanted === 'auto' && ports[name] !== (leased[name] ?? usual),
  );
  if (moved) writeLease(installation, ports, portWishesOf(definition));
}
