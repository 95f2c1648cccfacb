import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EnvRecord } from '../../../services/contracts/env/check.ts';
import { inheritedByChildren } from '../../../services/contracts/env/inherited.ts';
import type { ServiceName } from '../../../services/contracts/env/variables.ts';
import { SvcError } from '../../../services/contracts/errors.ts';
import { findProgram } from '../../machine/find-program.ts';
import type { ForeignProgram, Part } from '../../parts/part.ts';
import { compileCacheOf, type Installation } from '../../state/installation.ts';
import { markOf } from '../../state/process-mark.ts';

export interface ProcessPlan {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** The file that its standard output and standard error are appended to. */
  readonly log: string;
  /** Whether its new files are private. Not for our services: MCP servers inherit the umask and write into folders of people. */
  readonly isClosed: boolean;
}

export interface Programs {
  readonly node: string;
  /** Finds a program of others. */
  readonly find: (command: string) => string | null;
  readonly services: Readonly<Record<ServiceName, string>>;
}

export function ownPrograms(env: EnvRecord): Programs {
  return { node: process.execPath, find: (command) => findProgram(command, env.PATH), services: entries };
}

export interface ProcessPlanOf {
  readonly installation: Installation;
  /** The id of the installation. */
  readonly id: string;
  /** The environment of the supervisor. */
  readonly env: EnvRecord;
  readonly programs: Programs;
}

export function processPlanOf(part: Part, { installation, id, env, programs }: ProcessPlanOf): ProcessPlan {
  const { dir, stateDir } = installation;
  const where = { cwd: dir, log: logOf(installation, part.name) };
  const { program } = part;
  if (program.kind === 'foreign') {
    return {
      ...where,
      program: foundProgram(program, programs),
      args: program.args(join(stateDir, program.configuration.name)),
      env: { ...program.environment, ...markOf(id, part.name) },
      isClosed: true,
    };
  }
  return {
    ...where,
    program: programs.node,
    args: [...nodeFlags.service, programs.services[program.service]],
    env: {
      NODE_COMPILE_CACHE: compileCacheOf(installation),
      ...{ ...partEnvironment(env), ...part.variables, ...markOf(id, part.name) },
    },
    isClosed: false,
  };
}

export function logOf({ logsDir }: Installation, part: string): string {
  return join(logsDir, `${part}.log`);
}

export function foundProgram({ command }: ForeignProgram, { find }: Programs): string {
  const program = find(command);
  if (program !== null) return program;
  throw new SvcError('unavailable', `The program "${command}" is no longer on PATH.`, {
    hint: 'Install it again, then run: svc up',
  });
}

const entries = {
  backend: fileURLToPath(new URL('../../../services/backend/main.ts', import.meta.url)),
  'remote-mcp': fileURLToPath(new URL('../../../services/remote-mcp/main.ts', import.meta.url)),
  runtime: fileURLToPath(new URL('../../../services/runtime/main.ts', import.meta.url)),
  frontend: fileURLToPath(new URL('../../../services/frontend/main.ts', import.meta.url)),
};

/** Variables of the shell that every process gets, besides those for MCP servers. No other variable passes, so that no secret does. */
const ofAnyProcess = /^(HOME|USER|LOGNAME|SHELL|TMPDIR|XDG_[A-Z_]+|NODE_COMPILE_CACHE)$/i;
/** For the process that holds all services. The services' own variables come from svc.yaml. */
const ofThePlatform = /^OTEL_.+$/i;

export function platformEnvironment(env: EnvRecord): Readonly<Record<string, string>> {
  return { ...pick(env, ofThePlatform), ...partEnvironment(env) };
}

/** The environment of a process that is one part, without the part's own variables. */
export function partEnvironment(env: EnvRecord): Readonly<Record<string, string>> {
  return { ...pick(env, ofAnyProcess), ...inheritedByChildren(env) };
}

function pick(env: EnvRecord, pattern: RegExp): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) if (value !== undefined && pattern.test(name)) kept[name] = value;
  return kept;
}

/**
 * Node's young generation of 64 MB, twice, fills with garbage in a flood and is never given back. With 16 MB,
 * remote-mcp holds 170 MB afterwards instead of 280, at the same throughput. The single process uses 4 MB, which saves
 * idle memory; separate services need the 16 (decision 0053).
 */
export const nodeFlags = {
  platform: ['--max-semi-space-size=4'],
  service: ['--max-semi-space-size=16'],
} as const;

/**
 * Of glibc, which otherwise keeps freed memory apart for each of a dozen threads. Four places save the single process
 * 10 MB or more after use (decision 0053).
 */
export const mallocVariables = { MALLOC_ARENA_MAX: '4' } as const;
