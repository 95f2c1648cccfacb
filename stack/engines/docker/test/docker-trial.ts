import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { ContainerInspectInfo } from 'dockerode';
import Docker from 'dockerode';
import { startTimeOf } from '../../../state/process-identity.ts';
import { Platform, type PlatformOptions, until } from '../../../test/platform.ts';
import { inspectContainers } from '../container-state.ts';

/** A daemon that tests may use, `unix://…`: what they make there is theirs, and is gone afterwards. */
export const dockerHost = process.env.SVC_TEST_DOCKER_HOST ?? null;

/** The folder of a daemon that `.ci/docker` started, and can start again; null where it is somebody else's. */
export function daemonOf(host: string | null): string | null {
  const folder = dirname((host ?? '').slice('unix://'.length));
  return existsSync(join(folder, 'docker.pid')) ? folder : null;
}

export async function restartDaemon(folder: string): Promise<void> {
  const pid = Number(readFileSync(join(folder, 'docker.pid'), 'utf8'));
  process.kill(pid, 'SIGTERM');
  await until(() => startTimeOf(pid) === null, 60_000);
  const script = fileURLToPath(new URL('../../../../.ci/docker', import.meta.url));
  await promisify(execFile)('bash', [script, folder], { timeout: 60_000 });
}

/** A platform in containers of a real daemon, run by the built `svc` as a person would run it. */
export class DockerTrial {
  readonly platform: Platform;
  readonly docker: Docker;
  readonly id: string;

  private constructor(platform: Platform, docker: Docker, id: string) {
    this.platform = platform;
    this.docker = docker;
    this.id = id;
  }

  /** Made, and not started yet. */
  static async init(options: PlatformOptions = {}): Promise<DockerTrial> {
    if (dockerHost === null) throw new Error('whoever tries Docker names one');
    const env = { DOCKER_HOST: dockerHost };
    const platform = await Platform.init({ ...options, topology: 'distributed', engine: 'docker', env });
    const yaml = await readFile(platform.installation.definitionFile, 'utf8');
    const socketPath = dockerHost.slice('unix://'.length);
    const docker = new Docker({ socketPath, host: undefined, protocol: 'http' });
    return new DockerTrial(platform, docker, /^id: (\w+)$/m.exec(yaml)?.[1] ?? '');
  }

  containerOf(part: string) {
    return this.docker.getContainer(`svc-${this.id}-${part}`);
  }

  /** By name of the part. */
  async inspect(): Promise<ReadonlyMap<string, ContainerInspectInfo>> {
    const found = await inspectContainers(this.docker, this.id);
    return new Map([...found.values()].map((one) => [one.Config.Labels['svc.part'] ?? '', one]));
  }

  async ids(): Promise<Readonly<Record<string, string>>> {
    return Object.fromEntries([...(await this.inspect())].map(([part, { Id }]) => [part, Id]));
  }

  async edit(from: string, to: string): Promise<void> {
    const { definitionFile } = this.platform.installation;
    const before = await readFile(definitionFile, 'utf8');
    if (!before.includes(from)) throw new Error(`there is no ${from} in svc.yaml`);
    await writeFile(definitionFile, before.replace(from, to));
  }

  /** An MCP server that the image brings, in a skill that the role All has; returns the skill's id. */
  async addEcho(): Promise<string> {
    const { platform } = this;
    await platform.addServer('demo', ['node', '/svc/dist/templates/demo/server.mjs']);
    const skill = await platform.addSkill('all', ['demo/echo']);
    await platform.addRole('All', ['all']);
    return skill;
  }

  /** Takes all of it down, and what `svc down` keeps too. */
  async [Symbol.asyncDispose](): Promise<void> {
    const { docker, id, platform } = this;
    await platform[Symbol.asyncDispose]();
    const filters = { label: [`svc.installation=${id}`] };
    const left = await docker.listContainers({ all: true, filters });
    const networks = await docker.listNetworks({ filters });
    const { Volumes } = await docker.listVolumes({ filters });
    for (const { Name } of Volumes) await docker.getVolume(Name).remove();
    if (left.length + networks.length > 0) throw new Error('svc down left containers or networks');
  }
}
