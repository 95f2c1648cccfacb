import type { EnvRecord } from '../../../services/contracts/env/check.ts';
import { inheritedByChildren } from '../../../services/contracts/env/inherited.ts';

/** What a process may know of the shell that typed `svc up`, beside what is passed on to MCP servers: no stray secret of it. */
const ofAnyProcess = /^(HOME|USER|LOGNAME|SHELL|TMPDIR|XDG_[A-Z_]+|NODE_COMPILE_CACHE)$/i;
/** The services' own variables stand in svc.yaml; these are for the one process that holds all of them. */
const ofThePlatform = /^OTEL_.+$/i;

/** For the process that holds a platform. */
export function platformEnvironment(env: EnvRecord): Readonly<Record<string, string>> {
  return { ...pick(env, ofThePlatform), ...partEnvironment(env) };
}

/** For a process that is one part of it, beside the part's own variables. */
export function partEnvironment(env: EnvRecord): Readonly<Record<string, string>> {
  return { ...pick(env, ofAnyProcess), ...inheritedByChildren(env) };
}

function pick(env: EnvRecord, pattern: RegExp): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) if (value !== undefined && pattern.test(name)) kept[name] = value;
  return kept;
}
