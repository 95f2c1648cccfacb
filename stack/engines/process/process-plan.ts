import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EnvRecord } from '../../../services/contracts/env/check.ts';
import type { ServiceName } from '../../../services/contracts/env/variables.ts';
import { findProgram } from '../../find-program.ts';
import type { Installation } from '../../installation.ts';
import type { Part } from '../../part.ts';
import { partEnvironment } from './inherited-environment.ts';

/** Everything that a process is started with. */
export interface ProcessPlan {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** What it writes to stdout and stderr is appended to this file. */
  readonly log: string;
}

export interface Programs {
  readonly node: string;
  /** Null where it is not on the path: then it is not needed. */
  readonly natsServer: string | null;
  readonly caddy: string | null;
  /** What Node runs as each service. */
  readonly services: Readonly<Record<ServiceName, string>>;
}

/** Those of this package, and what is on the path. */
export function ownPrograms(env: EnvRecord): Programs {
  const [natsServer, caddy] = [findProgram('nats-server', env.PATH), findProgram('caddy', env.PATH)];
  return { node: process.execPath, natsServer, caddy, services: entries };
}

export interface ProcessPlanOf {
  readonly installation: Installation;
  /** Of the process that starts it. */
  readonly env: EnvRecord;
  readonly programs: Programs;
}

export function processPlanOf(part: Part, { installation, env, programs }: ProcessPlanOf): ProcessPlan {
  const { dir, stateDir, logsDir } = installation;
  const where = { cwd: dir, log: join(logsDir, `${part.name}.log`) };
  if (part.service === 'nats') {
    if (programs.natsServer === null) throw new Error('whoever plans to run nats-server has looked for it');
    const args = ['-c', natsConfigurationFile(installation)];
    // Its lines say the time without the zone.
    return { ...where, program: programs.natsServer, args, env: { TZ: 'UTC' } };
  }
  if (part.service === 'caddy') {
    if (programs.caddy === null) throw new Error('whoever plans to run caddy has looked for it');
    const args = ['run', '--config', caddyfileIn(installation), '--adapter', 'caddyfile'];
    // It keeps below its home what it was last told, and a folder for certificates.
    const own = join(stateDir, 'caddy');
    return { ...where, program: programs.caddy, args, env: { TZ: 'UTC', HOME: own } };
  }
  return {
    ...where,
    program: programs.node,
    args: [programs.services[part.service]],
    env: { NODE_COMPILE_CACHE: join(stateDir, 'compile-cache'), ...partEnvironment(env), ...part.variables },
  };
}

export function natsConfigurationFile({ stateDir }: Installation): string {
  return join(stateDir, 'nats.conf');
}

export function caddyfileIn({ stateDir }: Installation): string {
  return join(stateDir, 'Caddyfile');
}

const entries = {
  backend: fileURLToPath(new URL('../../../services/backend/main.ts', import.meta.url)),
  'remote-mcp': fileURLToPath(new URL('../../../services/remote-mcp/main.ts', import.meta.url)),
  runtime: fileURLToPath(new URL('../../../services/runtime/main.ts', import.meta.url)),
  frontend: fileURLToPath(new URL('../../../services/frontend/main.ts', import.meta.url)),
};
