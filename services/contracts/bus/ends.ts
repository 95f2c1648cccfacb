import type { Identity } from './permissions.ts';
import { patterns, tokensOf } from './subjects.ts';

/** Who answers what backends answer: any of them. */
export const anyBackend = 'backend';

/** One end of a connection as a token of subjects. The bus grants it with the identity, so that nobody speaks in another's name. */
export function endOf(identity: Identity): string {
  return `${identity.kind === 'runtime' ? identity.runtime : identity.kind}-${identity.process}`;
}

/** Whether it is an end of one of the backends. */
export function isBackendEnd(end: string): boolean {
  return end.startsWith(`${anyBackend}-`);
}

/** The two ends of a request on this subject; null where the subject leaves open who asks, or nobody answers it. */
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
