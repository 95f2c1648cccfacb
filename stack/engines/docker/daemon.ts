import { setTimeout as pause } from 'node:timers/promises';
import Docker from 'dockerode';
import { z } from 'zod';
import { explainDocker, startDocker, statusOf, usersOf } from '../../../services/contracts/docker.ts';
import type { EnvRecord } from '../../../services/contracts/env/check.ts';
import { SvcError } from '../../../services/contracts/errors.ts';
import { isVersion } from '../../machine/check-program.ts';
import { type DaemonAddress, findDaemonAddress } from './daemon-address.ts';
import type { Owner } from './given-files.ts';

/** A Docker daemon that answers and has the features that the platform needs. */
export interface Daemon {
  readonly docker: Docker;
  readonly socket: string;
  /** The daemon's id. Another daemon has none of the platform's containers and volumes. */
  readonly id: string;
  /** A rootless daemon belongs to the user of `svc`: root in its containers is that user outside. */
  readonly isRootless: boolean;
  /** Limits that this daemon cannot enforce, as sentences. Empty on most machines. */
  readonly shortcomings: readonly string[];
}

/** The daemon of an installation, and the users of the installation there. */
export interface OwnDaemon extends Daemon {
  /** The user in the containers of parts, as `uid:gid`. */
  readonly user: string;
  /** The same user on this machine: the owner of the files that containers get. */
  readonly fileOwner: Owner;
  /** The owner of the installation as a container sees it: `uid:gid`. */
  readonly installer: string;
}

/** Docker 20.10, the oldest API version with everything that is used. */
const oldestApi = '1.41';
/** A local daemon answers in milliseconds, a daemon that is starting within seconds. */
const answerTimeoutMs = 10_000;

/** The answers to `version` and `info`. */
const description = z.object({
  ApiVersion: z.string(),
  Components: z.array(z.object({ Name: z.string() })).default([]),
  ID: z.string(),
  SecurityOptions: z.array(z.string()).nullish(),
  MemoryLimit: z.boolean().optional(),
  PidsLimit: z.boolean().optional(),
});

/** Connects to the daemon that `docker` itself would use. Throws what is wrong with it and how to repair it. */
export async function connectToDaemon(env: EnvRecord): Promise<Daemon> {
  const address = findDaemonAddress(env);
  if (address !== null) return connectTo(address);
  const repair = `${startDocker} To install it: docs.docker.com/engine/install. If its socket is elsewhere, name it: DOCKER_HOST=unix:///…`;
  throw new SvcError('unavailable', 'No Docker runs on this machine: none of its usual sockets exists.', {
    hint: `${repair} ${ofEngine.instead}`,
  });
}

export function reconnectToDaemon(socket: string): Promise<Daemon> {
  return connectTo({ socket, saidBy: 'where svc up found it' });
}

/** The field of svc.yaml that needs Docker, and the alternative without it. */
interface DockerNeed {
  readonly neededBy: string;
  readonly instead: string;
}

const ofEngine: DockerNeed = {
  neededBy: 'engine: docker',
  instead: 'Without Docker: svc init --topology distributed --engine process',
};

export async function connectTo(address: DaemonAddress, { neededBy, instead }: DockerNeed = ofEngine): Promise<Daemon> {
  const { socket } = address;
  // dockerode takes options that are left out from the environment of this process.
  const docker = new Docker({ socketPath: socket, host: undefined, port: undefined, protocol: 'http' });
  const said = await Promise.all([docker.version(), docker.info()].map(withinTime)).catch((error: unknown) => {
    throw explain(error, address);
  });
  const parsed = description.safeParse(Object.assign({}, ...said)).data;
  if (parsed === undefined) {
    throw unfit(
      `The program that answers at "${socket}" is not Docker.`,
      'Name the socket of Docker: DOCKER_HOST=unix:///var/run/docker.sock',
    );
  }
  const { ApiVersion, Components, ID, SecurityOptions, MemoryLimit, PidsLimit } = parsed;
  if (Components.some(({ Name }) => /podman/i.test(Name))) {
    throw unfit(
      `Podman answers at "${socket}", and ${neededBy} needs Docker.`,
      `${instead}. If Docker is installed too, name its socket.`,
    );
  }
  if (!isVersion(ApiVersion, oldestApi)) {
    throw unfit(
      `The Docker at "${socket}" is older than 20.10 (its interface is ${ApiVersion}).`,
      'Install a current Docker.',
    );
  }
  const users = usersOf(SecurityOptions ?? []);
  if (users === 'remapped') {
    throw unfit(
      `The Docker at "${socket}" maps the users of its containers (userns-remap), so that they cannot read their files.`,
      `Turn userns-remap off, or run Docker rootless. ${instead}`,
    );
  }
  const shortcomings = [
    ...(MemoryLimit === false ? ['This Docker does not limit memory: a container may use all of it.'] : []),
    ...(PidsLimit === false ? ['This Docker does not limit processes: a container may start any number.'] : []),
  ];
  explainLater(docker, address);
  return { docker, socket, id: ID, isRootless: users === 'rootless', shortcomings };
}

/** For `catch`: null instead of an error of Docker's API with one of these statuses. */
export function tolerate(...statuses: readonly number[]): (error: unknown) => null {
  return (error) => {
    if (statuses.includes(statusOf(error) ?? 0)) return null;
    throw error;
  };
}

function unfit(what: string, hint: string): SvcError {
  return new SvcError('unsupported', what, { hint });
}

/** The daemon may stop between two requests. Every later failure gets the same explanation as a failed connection. */
function explainLater({ modem }: Docker, address: DaemonAddress): void {
  const dial = modem.dial.bind(modem);
  modem.dial = (options, callback) =>
    dial(options, (error, ...answer) => {
      const isSystems = error !== null && statusOf(error) === null && error.name !== 'AbortError';
      callback?.(isSystems ? explain(error, address) : error, ...answer);
    });
}

async function withinTime<Result>(work: Promise<Result>): Promise<Result> {
  const late = pause(answerTimeoutMs, undefined, { ref: false }).then(() => {
    throw Object.assign(new Error('late'), { code: 'ETIMEDOUT' });
  });
  return await Promise.race([work, late]);
}

function explain(error: unknown, { socket, saidBy }: DaemonAddress): SvcError {
  const { code, what, repair } = explainDocker(error, `"${socket}" (${saidBy})`);
  return new SvcError(code, `${what}.`, { hint: repair, cause: error });
}
