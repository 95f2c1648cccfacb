import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SvcError } from '../../services/contracts/errors.ts';
import { keptInFiles } from '../graph/kept-by.ts';
import type { Installation } from '../installation.ts';
import { aloneFolder, clusterFolder } from '../parts/nats.ts';
import type { Engine } from '../settings/choices.ts';
import { readContainers } from './docker/containers-record.ts';

/** What an engine has made keeps its data: another one would begin with nothing, beside it. */
export function refuseOtherEngine(installation: Installation, wanted: Engine): void {
  const has = readContainers(installation) !== null ? 'docker' : hasFiles(installation) ? 'process' : wanted;
  if (has === wanted) return;
  const where = has === 'docker' ? "in Docker's volumes" : 'in data/';
  throw new SvcError('conflict', `svc.yaml says engine: ${wanted}, and the data of this platform is ${where}.`, {
    hint: `Set engine: ${has} in svc.yaml. ${carry[wanted]} then carries it over.`,
  });
}

const carry: Readonly<Record<Engine, string>> = {
  docker: 'svc move --to distributed --engine docker',
  process: 'svc move --engine process',
};

/** As the first start of processes leaves it, whichever of them there are. */
function hasFiles(installation: Installation): boolean {
  const hasGraph = ['backend', 'dgraph-alpha'].map(keptInFiles(installation)).some(({ isThere }) => isThere);
  return hasGraph || [aloneFolder, clusterFolder].some((folder) => existsSync(join(installation.dataDir, folder)));
}
