import { createPrivateKey } from 'node:crypto';
import { existsSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import type { ContainerInspectInfo } from 'dockerode';
import Docker from 'dockerode';
import { expect } from 'vitest';
import { readSecret, secretFilesOf } from '../../../secrets/secrets.ts';
import { readDefinition } from '../../../settings/check.ts';
import type { Agent } from '../../../test/agent.ts';
import { Platform, type PlatformOptions } from '../../../test/platform.ts';
import { type Finding, SecretSearch } from '../../../test/secret-search.ts';
import { until } from '../../../test/until.ts';
import { readContainerLog } from '../container-log.ts';
import { inspectContainers, runInside } from '../container-state.ts';
import { listVolumes, removeVolumes } from '../volumes.ts';

/** The socket of a Docker daemon for tests, as `unix://…`. The tests remove everything that they create there. */
export const dockerHost = process.env.SVC_TEST_DOCKER_HOST ?? null;

/** A platform in containers of a real daemon, controlled by the built `svc`. */
export class DockerTrial {
  readonly platform: Platform;
  readonly docker: Docker;
  readonly id: string;
  /** Ids of roles that were saved. */
  readonly #saved: string[] = [];
  #tried = 0;

  private constructor(platform: Platform, docker: Docker, id: string) {
    this.platform = platform;
    this.docker = docker;
    this.id = id;
  }

  /** Creates the platform, but does not start it. */
  static async init(options: PlatformOptions = {}): Promise<DockerTrial> {
    if (dockerHost === null) throw new Error('SVC_TEST_DOCKER_HOST names no Docker');
    const env = { DOCKER_HOST: dockerHost };
    const platform = await Platform.init({ ...options, topology: 'distributed', engine: 'docker', env });
    const { id } = readDefinition(platform.installation.definitionFile);
    const socketPath = dockerHost.slice('unix://'.length);
    const docker = new Docker({ socketPath, host: undefined, protocol: 'http' });
    return new DockerTrial(platform, docker, id);
  }

  containerOf(part: string) {
    return this.docker.getContainer(`svc-${this.id}-${part}`);
  }

  /** Docker's description of each container, by the name of the part. */
  async inspect(): Promise<ReadonlyMap<string, ContainerInspectInfo>> {
    const found = await inspectContainers(this.docker, this.id);
    return new Map([...found.values()].map((one) => [one.Config.Labels['svc.part'] ?? '', one]));
  }

  async ids(): Promise<Readonly<Record<string, string>>> {
    return Object.fromEntries([...(await this.inspect())].map(([part, { Id }]) => [part, Id]));
  }

  /** The published ports: part, port inside the container, address and port on this machine. */
  async published(): Promise<readonly (readonly [string, string, string, number])[]> {
    const found = [...(await this.inspect())].flatMap(([part, { NetworkSettings }]) =>
      Object.entries(NetworkSettings.Ports).flatMap(([inside, at]) =>
        (at ?? []).map(({ HostIp, HostPort }) => [part, inside, HostIp, Number(HostPort)] as const),
      ),
    );
    return found.sort();
  }

  up(): Promise<string> {
    return this.platform.up();
  }

  /** The parts whose containers were replaced. */
  async changedSince(before: Readonly<Record<string, string>>): Promise<readonly string[]> {
    const now = await this.ids();
    return Object.keys(before).filter((part) => now[part] !== before[part]);
  }

  /** Retries a failed call, as agents do. */
  works(agent: Agent, message: string): Promise<void> {
    return until(async () => (await agent.text('echo', { text: message }).catch(() => '')).includes(message), 60_000);
  }

  /** Saves a role. Each attempt has a new name, because the outcome of an earlier attempt is unknown. */
  async save(): Promise<void> {
    this.#saved.push(await this.platform.addRole(`role ${++this.#tried}`, []));
  }

  async expectSaved(): Promise<void> {
    const { roles } = await this.platform.svc('role', 'list');
    expect(roles.map(({ id }: { id: string }) => id)).toEqual(expect.arrayContaining(this.#saved));
  }

  async inContainer(part: string, command: string): Promise<string> {
    const cmd = ['sh', '-c', `{ ${command}; } 2>&1`];
    return (await runInside(this.docker, `svc-${this.id}-${part}`, cmd)).said;
  }

  /** Runs a container in a foreign network. */
  async stranger() {
    const name = `svc-${this.id}-stranger`;
    const { Image = '' } = (await this.inspect()).get('backend') ?? {};
    const network = await this.docker.createNetwork({ Name: name });
    const Entrypoint = ['sleep', 'infinity'];
    const container = await this.docker.createContainer({ name, Image, Entrypoint, HostConfig: { NetworkMode: name } });
    await container.start();
    return {
      /** Whether a command in the container succeeds. */
      runs: async (command: readonly string[]) => (await runInside(this.docker, name, command)).exitCode === 0,
      async [Symbol.asyncDispose]() {
        await container.remove({ force: true });
        await network.remove();
      },
    };
  }

  /** Searches for all secrets of the installation. */
  secretSearch(): SecretSearch {
    const files = secretFilesOf(this.platform.installation);
    const search = new SecretSearch();
    const { d } = createPrivateKey(readSecret(files.jwtPrivateKey)).export({ format: 'jwk' });
    for (const [name, file] of Object.entries(files)) {
      // The installation has no external graph and no mail provider, so the files of their keys do not exist.
      if (name === 'jwtPublicKey' || !existsSync(file)) continue;
      search.seek({ name, value: name === 'jwtPrivateKey' ? Buffer.from(d ?? '', 'base64url') : readSecret(file) });
    }
    return search;
  }

  /** Searches Docker's descriptions of the containers and images, the files of the service image, and all logs. */
  async secretsInDocker(search: SecretSearch): Promise<readonly Finding[]> {
    const inspected = await this.inspect();
    const ids = [...new Set([...inspected.values()].map(({ Image }) => Image))];
    const images = await Promise.all(ids.map((id) => this.docker.getImage(id).inspect()));
    const own = await buffer(await this.docker.getImage(inspected.get('backend')?.Image ?? '').get());
    const logs = await Promise.all(
      [...inspected.values()].map(({ Id }) => readContainerLog(this.docker.getContainer(Id), {})),
    );
    return [
      ...search.inText(JSON.stringify([...inspected.values(), images]), 'docker inspect'),
      ...search.inText(own, 'the image'),
      ...search.inText(JSON.stringify(logs), 'docker logs'),
    ];
  }

  /** Adds an MCP server from the image, in a skill of the role All. Returns the skill's id. */
  async addEcho(): Promise<string> {
    const { platform } = this;
    await platform.addServer('demo', ['node', '/svc/dist/templates/demo/server.mjs']);
    const skill = await platform.addSkill('all', ['demo/echo']);
    await platform.addRole('All', ['all']);
    return skill;
  }

  /** Opens a new session, which has the tool from the start. */
  async agentWithEcho(key?: string): Promise<Agent> {
    const skill = await this.addEcho();
    return this.platform.connect(key ?? (await this.platform.addKey('agent')), `?skillIds=${skill}`);
  }

  /** Removes the platform, and everything that `svc down` keeps. */
  async [Symbol.asyncDispose](): Promise<void> {
    const { docker, id, platform } = this;
    await platform[Symbol.asyncDispose]();
    const filters = { label: [`svc.installation=${id}`] };
    const left = await docker.listContainers({ all: true, filters });
    const networks = await docker.listNetworks({ filters });
    await removeVolumes(docker, id, [...(await listVolumes(docker, id))]);
    if (left.length + networks.length > 0) throw new Error('svc down left containers or networks');
  }
}
