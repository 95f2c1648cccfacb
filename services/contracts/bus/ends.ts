import { findId, findProcessId, idPrefixes, type ProcessId, type RuntimeId } from '../ids.ts';
import type { Identity } from './permissions.ts';
import { patterns, tokensOf } from './subjects.ts';

/** The responder's name for requests that any backend answers. */
export const anyBackend = 'backend';

/** A connection's name in subjects. The bus grants it with the identity, so that no client can use another's name. */
export function endOf(identity: Identity): string {
  return `${identity.kind === 'runtime' ? identity.runtime : identity.kind}-${identity.process}`;
}

/** Whether the end is a backend's. */
export function isBackendEnd(end: string): boolean {
  return end.startsWith(`${anyBackend}-`);
}

/** Whether the end is a runtime's, whose program is not trusted. Backends and remote-mcps belong to the platform. */
export function isRuntimeEnd(end: string): boolean {
  return end.startsWith(runtimeEndStart);
}

const runtimeEndStart = `${idPrefixes.runtime}_`;

/** The runtime of an end. Any other end is returned unchanged. */
export function runtimeOrEnd(end: string): string {
  return isRuntimeEnd(end) ? end.slice(0, end.indexOf('-')) : end;
}

export interface RuntimeProcessName {
  readonly runtime: RuntimeId;
  readonly process: ProcessId;
}

export function findRuntimeProcess(end: string): RuntimeProcessName | null {
  const [first = '', second = '', ...more] = end.split('-');
  const [runtime, process] = [findId('runtime', first), findProcessId(second)];
  return runtime === null || process === null || more.length > 0 ? null : { runtime, process };
}

/** The runtime end that alone may publish on this subject; null when the subject does not belong to a runtime. */
export function runtimeEndIn(subject: string): string | null {
  const tokens = subject.split('.');
  switch (tokens[1]) {
    case 'heartbeat':
    case 'report':
      return tokens.length === 4 ? `${tokens[2]}-${tokens[3]}` : null;
    case 'identity':
      return tokens.length === 5 && tokens[2] === 'handshake' ? `${tokens[3]}-${tokens[4]}` : null;
    default:
      return null;
  }
}

/** The two ends of a request on this subject; null when the subject does not name the caller, or has no responder. */
export function endsOf(subject: string): { readonly asker: string | null; readonly answerer: string | null } {
  const tokens = subject.split('.');
  if (tokens[1] === 'runtime' && tokens.length === 5) return { asker: null, answerer: `${tokens[2]}-${tokens[3]}` };
  for (const pattern of [patterns.handshake, patterns.report]) {
    const [runtime, process] = tokensOf(pattern, subject)?.slice(-2) ?? [];
    if (runtime !== undefined) return { asker: `${runtime}-${process}`, answerer: anyBackend };
  }
  for (const pattern of [patterns.hello, patterns.key]) {
    const process = tokensOf(pattern, subject)?.at(-1);
    if (process !== undefined) return { asker: `remote-mcp-${process}`, answerer: anyBackend };
  }
  return { asker: null, answerer: null };
}
