import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SvcError } from '../../services/contracts/errors.ts';
import { keptInFiles } from '../graph/kept-by.ts';
import { aloneFolder, clusterFolder } from '../parts/nats.ts';
import { readDefinition } from '../settings/check.ts';
import type { Engine as EngineName } from '../settings/choices.ts';
import type { Definition } from '../settings/definition.ts';
import { isInContainers, readContainers } from '../state/containers-record.ts';
import { findRunning } from '../state/find-running.ts';
import type { Installation } from '../state/installation.ts';
import type { Engine } from './engine.ts';

/** Loaded when used: most commands need one of them, and Docker's client takes its time. */
const engines: Readonly<Record<EngineName, () => Promise<Engine>>> = {
  process: async () => (await import('./process/engine.ts')).processEngine,
  docker: async () => (await import('./docker/engine.ts')).dockerEngine,
};

/** The engine that made what an installation has. Where no engine did, an installation has what processes leave: nothing. */
export async function engineOf(installation: Installation): Promise<Engine> {
  return engines[madeBy(installation) ?? 'process']();
}

/** The engine that a definition names. */
export async function engineFor({ engine }: Pick<Definition, 'engine'>): Promise<Engine> {
  return engines[engine]();
}

/** The engine that svc.yaml names. Refused where another engine made the data: the platform would begin with nothing, beside it. */
export async function chosenEngine(installation: Installation): Promise<Engine> {
  const wanted = readDefinition(installation.definitionFile).engine;
  const has = madeBy(installation) ?? wanted;
  if (has === wanted) return engines[wanted]();
  const where = has === 'docker' ? "in Docker's volumes" : 'in data/';
  throw new SvcError('conflict', `svc.yaml says engine: ${wanted}, and the data of this platform is ${where}.`, {
    hint: `Set engine: ${has} in svc.yaml. ${carry[wanted]} then carries it over.`,
  });
}

const carry: Readonly<Record<EngineName, string>> = {
  docker: 'svc move --to distributed --engine docker',
  process: 'svc move --engine process',
};

/** Whether a platform runs in an installation, as far as the records in state/ tell. */
export function isUp(installation: Installation): boolean {
  return isInContainers(installation) || findRunning(installation) !== null;
}

function madeBy(installation: Installation): EngineName | null {
  if (isInContainers(installation)) return 'docker';
  if (findRunning(installation) !== null) return 'process';
  if (readContainers(installation) !== null) return 'docker';
  return hasFiles(installation) ? 'process' : null;
}

/** As the first start of processes leaves it, whichever parts there are. */
function hasFiles(installation: Installation): boolean {
  const hasGraph = ['backend', 'dgraph-alpha'].map(keptInFiles(installation)).some(({ isThere }) => isThere);
  return hasGraph || [aloneFolder, clusterFolder].some((folder) => existsSync(join(installation.dataDir, folder)));
}
