import type { EnvRecord } from '../../../services/contracts/env/check.ts';
import { inheritedByChildren } from '../../../services/contracts/env/inherited.ts';

/** Variables of the shell that every process gets, besides those for MCP servers. No other variable passes, so that no secret does. */
const ofAnyProcess = /^(HOME|USER|LOGNAME|SHELL|TMPDIR|XDG_[A-Z_]+|NODE_COMPILE_CACHE)$/i;
/** For the process that holds all services. The services' own variables come from svc.yaml. */
const ofThePlatform = /^OTEL_.+$/i;

/** The environment of the process that holds a platform. */
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
