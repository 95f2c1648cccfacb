import { closeSync, openSync, readSync } from 'node:fs';
import { checkEnv, describeProblems, type Env, type EnvRecord } from '../contracts/env/check.ts';
import type { Problem, Variable } from '../contracts/env/variable.ts';
import { type ServiceName, variables } from '../contracts/env/variables.ts';
import { SvcError } from '../contracts/errors.ts';
import { inWords } from '../contracts/system-words.ts';

/** A file with a secret holds one line; a larger one was named by mistake. */
const secretFileMaxBytes = 64 * 1024;

export interface ReadEnv<Service extends ServiceName> {
  readonly env: Env<Service>;
  /** Log lines about variables that are set without effect. */
  readonly warnings: readonly string[];
}

/** The checked environment of a service, with secrets read from their `_FILE` twins. One error reports all problems. */
export function readEnv<Service extends ServiceName>(service: Service, record: EnvRecord): ReadEnv<Service> {
  const twins = readFileTwins(service, record);
  const checked = checkEnv(service, twins.record);
  const problems = [...twins.problems, ...checked.problems];
  if (problems.length > 0) throw new SvcError('invalid_input', describeProblems(service, problems));
  return { env: checked.env, warnings: checked.warnings };
}

function readFileTwins(service: ServiceName, record: EnvRecord) {
  const resolved: Record<string, string | undefined> = { ...record };
  const problems: Problem[] = [];
  for (const [name, entry] of Object.entries<Variable<unknown>>(variables[service])) {
    const path = record[`${name}_FILE`];
    if (!entry.secret || path === undefined || path === '') continue;
    if (record[name] !== undefined && record[name] !== '') {
      problems.push({
        variable: `${name}_FILE`,
        rule: `must not be set together with ${name}`,
        repair: `Keep one of the two; the file keeps the secret out of the process's environment.`,
      });
      continue;
    }
    const read = readSecretFile(path);
    if (read.ok) resolved[name] = read.text;
    else {
      problems.push({
        variable: `${name}_FILE`,
        rule: 'must name a readable file that holds the secret',
        repair: `"${path.slice(0, 200)}" ${read.reason}: correct the path, the file or its permissions.`,
      });
    }
  }
  return { record: resolved, problems };
}

type SecretFile = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly reason: string };

function readSecretFile(path: string): SecretFile {
  try {
    const text = readBounded(path);
    if (text === null) return { ok: false, reason: 'is too long for a secret' };
    const trimmed = text.replace(/\r?\n$/, '');
    return trimmed === '' ? { ok: false, reason: 'is empty' } : { ok: true, text: trimmed };
  } catch (error) {
    return { ok: false, reason: `cannot be read: ${inWords(error)}` };
  }
}

/**
 * Null when the file is longer than a secret. Read in pieces, because a device or a pipe does not announce its length.
 */
function readBounded(path: string): string | null {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(secretFileMaxBytes + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read) {
      read = readSync(file, bytes, length, bytes.length - length, null);
    }
    return length > secretFileMaxBytes ? null : bytes.toString('utf8', 0, length);
  } finally {
    closeSync(file);
  }
}
