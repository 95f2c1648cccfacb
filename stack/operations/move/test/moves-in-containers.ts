import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Docker from 'dockerode';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { dockerHost } from '../../../engines/docker/test/docker-trial.ts';
import { releaseVolumes } from '../../../engines/docker/volumes.ts';
import { replaceScalar } from '../../../settings/yaml-text.ts';
import { type Installation, installationIn } from '../../../state/installation.ts';
import { down } from '../../down.ts';
import type { Loss } from '../../replace/end-replacement.ts';
import type { Side } from '../../replace/side.ts';
import { confirmMove, contentOf, openFilled, undoMove } from './trial.ts';

export const env: Record<string, string | undefined> = { ...process.env, DOCKER_HOST: dockerHost ?? '' };
export const onProgress = () => undefined;
export const embedded: Side = { topology: 'embedded', graph: 'sqlite', engine: 'process' };
export const inContainers: Side = { topology: 'distributed', graph: 'sqlite', engine: 'docker' };
export const socketPath = (dockerHost ?? '').slice('unix://'.length);

interface Opened {
  readonly filled: Awaited<ReturnType<typeof openFilled>>;
  readonly original: Awaited<ReturnType<typeof contentOf>>;
}

/** One filled installation, of which each test of a `describe` moves a copy into containers of a real Docker. */
export class MovesInContainers {
  readonly docker = new Docker({ socketPath, host: undefined, protocol: 'http' });
  #opened: Opened | null = null;
  #copy: Installation | null = null;

  /** Opens the installation before the tests, and clears away what each test made. */
  static aroundTests(): MovesInContainers {
    const moves = new MovesInContainers();
    beforeAll(() => moves.#open());
    afterEach(() => moves.#clearAway());
    afterAll(() => moves.#opened?.filled[Symbol.asyncDispose]());
    return moves;
  }

  async #open(): Promise<void> {
    // A move in a process of its own takes it from there.
    process.env.DOCKER_HOST = env.DOCKER_HOST;
    const filled = await openFilled();
    const { dataDir, definitionFile } = filled.installation;
    // Longer than the suite takes, wherever it runs.
    const limits = replaceScalar(readFileSync(definitionFile, 'utf8'), ['limits', 'sessionIdleTimeoutMs'], '3600000');
    writeFileSync(definitionFile, limits);
    const home = join(dataDir, 'runtime/homes');
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, 'notes.json'), 'what an MCP server keeps');
    this.#opened = { filled, original: await contentOf(filled.installation) };
  }

  get #own(): Opened {
    if (this.#opened === null) throw new Error('the installation is used before the tests begin');
    return this.#opened;
  }

  get original(): Opened['original'] {
    return this.#own.original;
  }

  get id(): string {
    return /^id: (\w+)$/m.exec(this.original.definition)?.[1] ?? '';
  }

  get #installation(): Installation {
    return this.#copy ?? this.#own.filled.installation;
  }

  copy(): Installation {
    const dir = realpathSync(mkdtempSync(join(tmpdir(), 'svc-move-')));
    cpSync(this.#own.filled.installation.dir, dir, { recursive: true });
    this.#copy = installationIn(dir);
    // Recorded as the place of another folder, this one would be refused as a copy.
    rmSync(join(this.#copy.stateDir, 'place.json'));
    return this.#copy;
  }

  /** Everything of the installation in Docker, by name. */
  async inDocker(): Promise<readonly string[]> {
    const filters = { label: [`svc.installation=${this.id}`] };
    const containers = await this.docker.listContainers({ all: true, filters });
    const networks = await this.docker.listNetworks({ filters });
    const { Volumes } = await this.docker.listVolumes({ filters });
    const names = [
      ...containers.flatMap(({ Names }) => Names),
      ...[...networks, ...(Volumes ?? [])].map((one) => one.Name),
    ];
    return names.map((name) => name.replace(/^\/?svc-\w{16}-/, '')).sort();
  }

  notes(): string {
    return readFileSync(join(this.#installation.dataDir, 'runtime/homes/notes.json'), 'utf8');
  }

  confirm() {
    return confirmMove({ installation: this.#installation, env, onProgress }, () => undefined);
  }

  /** What the undo would lose, as it is told before. */
  async undo(): Promise<Loss | undefined> {
    const losses: Loss[] = [];
    await undoMove({ installation: this.#installation, env, onProgress }, async (loss) => void losses.push(loss));
    return losses[0];
  }

  async #clearAway(): Promise<void> {
    await down({ installation: this.#installation });
    await releaseVolumes(this.docker, this.id);
    const { Volumes } = await this.docker.listVolumes({ filters: { label: [`svc.installation=${this.id}`] } });
    for (const { Name } of Volumes ?? []) await this.docker.getVolume(Name).remove();
    rmSync(this.#installation.dir, { recursive: true, force: true });
  }
}
