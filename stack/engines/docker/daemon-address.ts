import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { EnvRecord } from '../../../services/contracts/env/check.ts';
import { SvcError } from '../../../services/contracts/errors.ts';
import { readJson } from '../../state/durable-file.ts';

/** A socket that a daemon listens on, and the place that names it. */
export interface DaemonAddress {
  readonly socket: string;
  readonly saidBy: string;
}

/** The daemon that `docker` itself would use, or null. A chosen address is never replaced by another. */
export function findDaemonAddress(env: EnvRecord): DaemonAddress | null {
  const { DOCKER_HOST: host = '' } = env;
  const chosen = host === '' ? chosenByContext(env) : addressAt(host, 'DOCKER_HOST');
  if (chosen !== null) return chosen;
  const socket = usualSockets(env).find(isSocket);
  return socket === undefined ? null : { socket, saidBy: 'the usual place' };
}

const context = z.object({ Endpoints: z.object({ docker: z.object({ Host: z.string() }) }) });

/** `docker context use` stores the name. The folder of a context is the hash of its name. */
function chosenByContext(env: EnvRecord): DaemonAddress | null {
  const name = env.DOCKER_CONTEXT ?? readDockerConfig(env).currentContext;
  if (name === undefined || name === '' || name === 'default') return null;
  const hash = createHash('sha256').update(name).digest('hex');
  const found = context.safeParse(readDockerFile(env, 'contexts/meta', hash, 'meta.json')).data;
  const saidBy = `the context "${name}" of Docker`;
  if (found === undefined) {
    throw new SvcError('not_found', `There is no ${saidBy.slice('the '.length)}.`, {
      hint: 'List the contexts: docker context ls. Choose one: docker context use',
    });
  }
  return addressAt(found.Endpoints.docker.Host, saidBy);
}

/** The daemon mounts secrets and files from folders of this machine, so it must run here. */
function addressAt(host: string, saidBy: string): DaemonAddress {
  const [, socket] = /^unix:\/\/(.+)$/.exec(host) ?? [];
  if (socket !== undefined) return { socket, saidBy };
  throw new SvcError('unsupported', `${saidBy} says "${host}", and svc needs a Docker socket of this machine.`, {
    hint: 'Name a socket, such as unix:///var/run/docker.sock, or unset it for the usual one.',
  });
}

function usualSockets({ HOME: home, XDG_RUNTIME_DIR: runtimeDir = '' }: EnvRecord): readonly string[] {
  const ofUser = runtimeDir === '' ? [] : [join(runtimeDir, 'docker.sock')];
  const inHome = ['.docker/run/docker.sock', '.colima/default/docker.sock', '.orbstack/run/docker.sock'];
  return ['/var/run/docker.sock', ...ofUser, ...(home === undefined ? [] : inHome.map((path) => join(home, path)))];
}

function isSocket(path: string): boolean {
  try {
    return statSync(path).isSocket();
  } catch {
    return false;
  }
}

const login = z.object({ auth: z.string().optional(), identitytoken: z.string().optional() });
const config = z.object({
  currentContext: z.string().optional(),
  /** Logins that `docker login` wrote into the file itself, by registry. */
  auths: z.record(z.string(), login).optional(),
  /** The program that keeps logins, for all registries and for single ones. */
  credsStore: z.string().optional(),
  credHelpers: z.record(z.string(), z.string()).optional(),
});
export type DockerConfig = z.infer<typeof config>;

/** Null for a file that cannot be read, in the folder of the program `docker`. */
function readDockerFile(env: EnvRecord, ...path: readonly string[]): unknown {
  try {
    return readJson(join(env.DOCKER_CONFIG ?? join(env.HOME ?? '', '.docker'), ...path));
  } catch {
    return null;
  }
}

/** `config.json` of the program `docker`; empty where the file is missing or not valid. */
export function readDockerConfig(env: EnvRecord): DockerConfig {
  return config.safeParse(readDockerFile(env, 'config.json')).data ?? {};
}
