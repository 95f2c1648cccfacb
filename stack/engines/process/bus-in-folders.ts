import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { EnvRecord } from '../../../services/contracts/env/check.ts';
import type { BusPlaces } from '../../content/change-nodes.ts';
import { aloneFolder, clusterFolder } from '../../parts/nats.ts';
import type { Plan } from '../../plan/plan.ts';
import { endAlone } from '../../state/alone-record.ts';
import type { Installation } from '../../state/installation.ts';
import { runProcessesAlone } from './run-alone.ts';

/** The folders of the bus in data/. */
export function busInFolders(installation: Installation, env: EnvRecord): Omit<BusPlaces, 'planOf'> {
  const { dataDir } = installation;
  const folderOf = ({ definition: { replicas } }: Plan) =>
    join(dataDir, replicas.nats === 1 ? aloneFolder : clusterFolder);
  const remove = async (plan: Plan) => {
    await endAlone(installation);
    rmSync(folderOf(plan), { recursive: true, force: true });
  };
  return {
    isThere: (plan) => existsSync(folderOf(plan)),
    // The nodes make their folder.
    empty: remove,
    remove,
    run(plan, signal) {
      return runProcessesAlone({ plan, busDir: dataDir, graphDir: null, env, signal });
    },
  };
}
