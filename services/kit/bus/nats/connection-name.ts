import { z } from 'zod';
import type { Identity } from '../../../contracts/bus/permissions.ts';
import { errorCodes, SvcError } from '../../../contracts/errors.ts';
import { id } from '../../../contracts/id-schema.ts';
import { findProcessId, type ProcessId } from '../../../contracts/ids.ts';

/**
 * The name of a connection in NATS: its identity, or for a refused client that reads the reason, that reason. Clients,
 * the list of connections and the advisories of NATS all use this name.
 */
export function nameOf(identity: Identity): string {
  return JSON.stringify(identity);
}

export function nameOfRefused({ code, message, hint }: Refusal): string {
  return JSON.stringify({ kind: 'refused', code, message, hint });
}

export interface Refusal {
  readonly code: SvcError['code'];
  readonly message: string;
  readonly hint?: string | undefined;
}

const process = z.custom<ProcessId>((value) => typeof value === 'string' && findProcessId(value) !== null);
const identity = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('backend'), process }),
  z.object({ kind: z.literal('remote-mcp'), process }),
  z.object({
    kind: z.literal('runtime'),
    process,
    runtime: id('runtime'),
    name: z.string(),
    workspace: id('workspace').nullable(),
    key: id('key').exactOptional(),
  }),
]);
const refused = z.object({
  kind: z.literal('refused'),
  code: z.enum(errorCodes),
  message: z.string(),
  hint: z.string().optional(),
});

/** The identity in a name; null when the name has none. */
export function findIdentity(name: string): Identity | null {
  return identity.safeParse(parsed(name)).data ?? null;
}

export function findRefusal(name: string): SvcError | null {
  const found = refused.safeParse(parsed(name)).data;
  if (found === undefined) return null;
  return new SvcError(found.code, found.message, found.hint === undefined ? {} : { hint: found.hint });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
