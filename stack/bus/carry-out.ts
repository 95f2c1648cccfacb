import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { carryBlobs } from '../../services/backend/files/content.ts';
import { openBlobsContent } from '../../services/backend/files/open-content.ts';
import type { EnvRecord } from '../../services/contracts/env/check.ts';
import { openBusContent } from '../../services/kit/bus/open-content.ts';
import { runProcessesAlone } from '../engines/process/run-alone.ts';
import { type Plan, planFor } from '../lifecycle/plan.ts';
import { carryBus, verifyBus } from '../move/carry-bus.ts';
import { leasedPorts } from '../ports/port-lease.ts';
import { portWishesOf } from '../ports/port-wishes.ts';
import { busSeedsOf } from '../secrets.ts';
import { readJson, syncFolder, writeDurably } from '../state/durable-file.ts';
import { endLeftProcesses, type LeftProcess } from '../state/left-processes.ts';
import { acquireLock } from '../state/lock.ts';
import { isAlive, processIdentity } from '../state/process-identity.ts';
import {
  aloneFolder,
  carriedBlobs,
  carriedBus,
  carriedFolder,
  clusterFolder,
  keepsBlobs,
  keyMaxAgeOf,
} from './bus-folders.ts';
import { hasOwnBus } from './has-own-bus.ts';

export interface CarryingOut {
  readonly plan: Plan;
  readonly env: EnvRecord;
  readonly signal: AbortSignal;
  readonly onNotice: (message: string) => void;
}

/** Whether what the bus keeps was kept by another number of nodes: one alone and a cluster can't read what the other wrote. */
export function wasKeptByOthers({ installation, definition }: Plan): boolean {
  if (!hasOwnBus(definition) || !definition.bus.persistentMessaging) return false;
  const { own, others } = foldersOf(definition.replicas.nats);
  return existsSync(join(installation.dataDir, others)) && !existsSync(join(installation.dataDir, own));
}

/**
 * Reads what other nodes kept into a folder, from which the nodes of the plan get it once they run. The old nodes run meanwhile, and nobody else.
 * Killed at any moment it is begun anew by the next start: what is read from stays as it is until all of it is in the folder.
 */
export async function carryOut({ plan, env, signal, onNotice }: CarryingOut): Promise<void> {
  const { installation, definition, secrets } = plan;
  const { dataDir } = installation;
  const lock = acquireLock(installation, 'platform');
  const started = new StartedNodes(join(installation.stateDir, 'carrying.json'));
  try {
    await started.end();
    const before = planBefore(plan);
    const carriedDir = join(dataDir, carriedFolder);
    const draft = `${carriedDir}.part`;
    const shown = { caPath: null, seeds: busSeedsOf(secrets) };
    rmSync(draft, { recursive: true, force: true });
    mkdirSync(draft, { mode: 0o700 });
    const born = ({ process }: LeftProcess) => started.add(process);
    const alone = { busDir: dataDir, graphDir: null, env, born, signal };
    const { bus: servers, stop } = await runProcessesAlone({ plan: before, ...alone });
    try {
      const kept = await openBusContent({ engine: 'nats', ...shown, servers, keyMaxAgeMs: keyMaxAgeOf(plan) });
      await using from = closing(kept);
      const file = join(draft, carriedBus);
      const carried = await into(file, plan, (to) => carryBus(from.content, to));
      const [usage, sessions] = await into(file, plan, (there) => verifyBus(carried, there));
      const counted = [`${usage?.count ?? 0} usage records`, `${sessions?.count ?? 0} sessions`];
      if (keepsBlobs(plan)) {
        await using there = await openBlobsContent({ engine: 'jetstream', ...shown, servers });
        await using here = await openBlobsContent({ engine: 'folder', dir: join(draft, carriedBlobs) });
        counted.push(`${(await carryBlobs(there.blobs, here.blobs, signal)).count} files`);
      }
      onNotice(
        `The bus has ${definition.replicas.nats} in the place of ${before.definition.replicas.nats} nodes, with what it kept: ${counted.join(', ')}.`,
      );
    } finally {
      await stop();
    }
    renameSync(draft, carriedDir);
    syncFolder(dataDir);
    rmSync(join(dataDir, foldersOf(definition.replicas.nats).others), { recursive: true });
  } finally {
    await started.end();
    lock.release();
  }
}

function foldersOf(nodes: number) {
  return nodes === 1 ? { own: aloneFolder, others: clusterFolder } : { own: clusterFolder, others: aloneFolder };
}

/** The same platform with as many nodes as kept what is there. */
function planBefore({ installation, definition }: Plan): Plan {
  const before = {
    ...definition,
    replicas: { ...definition.replicas, nats: definition.replicas.nats === 1 ? 3 : 1 },
  } as const;
  return planFor(installation, before, leasedPorts(installation, portWishesOf(before)));
}

type Content = Awaited<ReturnType<typeof openBusContent>>;

async function into<Result>(file: string, plan: Plan, work: (content: Content) => Promise<Result>): Promise<Result> {
  await using opened = closing(await openBusContent({ engine: 'sqlite', file, keyMaxAgeMs: keyMaxAgeOf(plan) }));
  return await work(opened.content);
}

function closing(content: Content) {
  return { content, [Symbol.asyncDispose]: () => content.close() };
}

/** The nodes that were started here, written down, so that whoever begins anew ends them first. */
class StartedNodes {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  add(node: z.infer<typeof processIdentity>): void {
    writeDurably(this.#file, JSON.stringify([...this.#read(), node]));
  }

  async end(): Promise<void> {
    const left = this.#read().filter(isAlive);
    await endLeftProcesses(left.map((process) => ({ name: 'nats', process })));
    rmSync(this.#file, { force: true });
  }

  #read(): readonly z.infer<typeof processIdentity>[] {
    return z.array(processIdentity).safeParse(readJson(this.#file)).data ?? [];
  }
}
