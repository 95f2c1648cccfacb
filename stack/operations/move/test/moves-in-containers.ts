import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Docker from 'dockerode';
import { dockerHost } from '../../../engines/docker/test/docker-trial.ts';
import { listVolumes, removeVolumes } from '../../../engines/docker/volumes.ts';
import type { Installation } from '../../../state/installation.ts';
import { down } from '../../down.ts';
import type { Side } from '../../replace/side.ts';
import { filledCopies } from './trial.ts';

export const env: Record<string, string | undefined> = { ...process.env, DOCKER_HOST: dockerHost ?? '' };
export const embedded: Side = { topology: 'embedded', graph: 'sqlite', engine: 'process' };
export const inContainers: Side = { topology: 'distributed', graph: 'sqlite', engine: 'docker' };
export const socketPath = (dockerHost ?? '').slice('unix://'.length);

/** One filled installation, of which each test of a `describe` moves a copy into containers of a real Docker. */
export class MovesInContainers {
  readonly docker = new Docker({ socketPath, host: undefined, protocol: 'http' });
  readonly #copies = filledCopies({ prepare, clear: (installation) => this.#clearAway(installation) });

  get original() {
    return this.#copies.original();
  }

  get id(): string {
    return /^id: (\w+)$/m.exec(this.original.definition)?.[1] ?? '';
  }

  copy(): Installation {
    return this.#copies.copy();
  }

  /** Everything of the installation in Docker, by name. */
  async inDocker(): Promise<readonly string[]> {
    const filters = { label: [`svc.installation=${this.id}`] };
    const containers = await this.docker.listContainers({ all: true, filters });
    const networks = (await this.docker.listNetworks({ filters })).map(({ Name }) => Name);
    const volumes = await listVolumes(this.docker, this.id);
    const names = [...containers.flatMap(({ Names }) => Names), ...networks, ...volumes];
    return names.map((name) => name.replace(/^\/?svc-\w{16}-/, '')).sort();
  }

  async #clearAway(installation: Installation): Promise<void> {
    await down({ installation });
    await removeVolumes(this.docker, this.id, [...(await listVolumes(this.docker, this.id))]);
  }
}

/** What an MCP server keeps in its home. */
export function notesIn({ dataDir }: Installation): string {
  return readFileSync(join(dataDir, 'runtime/homes/notes.json'), 'utf8');
}

function prepare({ dataDir }: Installation): void {
  // A move in a process of its own takes it from there.
  process.env.DOCKER_HOST = env.DOCKER_HOST;
  const home = join(dataDir, 'runtime/homes');
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, 'notes.json'), 'what an MCP server keeps');
}
