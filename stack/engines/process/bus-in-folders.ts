import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { EnvRecord } from '../../../services/contracts/env/check.ts';
import type { BusPlaces } from '../../content/change-nodes.ts';
import { aloneFolder, clusterFolder } from '../../parts/nats.ts';
import type { Plan } from '../../plan/plan.ts';
import { readJson, writeDurably } from '../../state/durable-file.ts';
import type { Installation } from '../../state/installation.ts';
import { endLeftProcesses, type LeftProcess } from '../../state/left-processes.ts';
import { isAlive, processIdentity } from '../../state/process-identity.ts';
import { runProcessesAlone } from './run-alone.ts';

/** The folders of the bus in data/. */
export function busInFolders(installation: Installation, env: EnvRecord): Omit<BusPlaces, 'planOf'> {
  const { dataDir } = installation;
  const folderOf = ({ definition: { replicas } }: Plan) =>
    join(dataDir, replicas.nats === 1 ? aloneFolder : clusterFolder);
  const started = new StartedNodes(join(installation.stateDir, 'carrying.json'));
  const remove = async (plan: Plan) => {
    await started.end();
    rmSync(folderOf(plan), { recursive: true, force: true });
  };
  return {
    isThere: (plan) => existsSync(folderOf(plan)),
    // The nodes make their folder.
    empty: remove,
    remove,
    async run(plan, signal) {
      await started.end();
      const born = ({ process }: LeftProcess) => started.add(process);
      const { bus, stop } = await runProcessesAlone({ plan, busDir: dataDir, graphDir: null, env, born, signal });
      return { bus, stop: () => stop().finally(() => started.end()) };
    },
  };
}

/** The nodes that were started here, in a file, so that the next command can end them. */
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
