import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SvcError } from '../../services/contracts/errors.ts';
import { keptInFiles } from '../graph/graph-data.ts';
import { aloneFolder, clusterFolder } from '../parts/nats.ts';
import { readDefinition } from '../settings/check.ts';
import type { Engine as EngineName } from '../settings/choices.ts';
import type { Definition } from '../settings/definition.ts';
import { isInContainers, readContainers } from '../state/containers-record.ts';
import { findRunning } from '../state/find-running.ts';
import type { Installation } from '../state/installation.ts';
import { dockerEngine } from './docker/engine.ts';
import type { Engine } from './engine.ts';
import { processEngine } from './process/engine.ts';

const engines: Readonly<Record<EngineName, Engine>> = { process: processEngine, docker: dockerEngine };

/** The engine that made what an installation has. An installation without data counts as one of processes, which leave nothing. */
export function engineOf(installation: Installation): Engine {
  return engines[madeBy(installation) ?? 'process'];
}

export function engineFor({ engine }: Pick<Definition, 'engine'>): Engine {
  return engines[engine];
}

export function isSameEngine(one: Pick<Definition, 'engine'>, other: Pick<Definition, 'engine'>): boolean {
  return engineFor(one) === engineFor(other);
}

/** The engine that svc.yaml names. Refuses another engine than the one that has the data: the platform would start without it. */
export function chosenEngine(installation: Installation): Engine {
  const wanted = readDefinition(installation.definitionFile).engine;
  const has = madeBy(installation) ?? wanted;
  if (has === wanted) return engines[wanted];
  const where = has === 'docker' ? "in Docker's volumes" : 'in data/';
  throw new SvcError('conflict', `svc.yaml says engine: ${wanted}, and the data of this platform is ${where}.`, {
    hint: `Set engine: ${has} in svc.yaml. ${carry[wanted]} then moves it.`,
  });
}

const carry: Readonly<Record<EngineName, string>> = {
  docker: 'svc move --to distributed --engine docker',
  process: 'svc move --engine process',
};

/** Whether the platform of an installation runs, according to the records in state/. */
export function isUp(installation: Installation): boolean {
  return isInContainers(installation) || findRunning(installation) !== null;
}

function madeBy(installation: Installation): EngineName | null {
  if (isInContainers(installation)) return 'docker';
  if (findRunning(installation) !== null) return 'process';
  if (readContainers(installation) !== null) return 'docker';
  return hasFiles(installation) ? 'process' : null;
}

/** Whether the first start of processes has left data, for any selection of parts. */
function hasFiles(installation: Installation): boolean {
  const hasGraph = ['backend', 'dgraph-alpha'].map(keptInFiles(installation)).some(({ isThere }) => isThere);
  return hasGraph || [aloneFolder, clusterFolder].some((folder) => existsSync(join(installation.dataDir, folder)));
}
