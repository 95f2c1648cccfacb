import { z } from 'zod';
import type { Identity } from '../../../contracts/bus/permissions.ts';
import { errorCodes, SvcError } from '../../../contracts/errors.ts';
import { id } from '../../../contracts/id-schema.ts';
import { findProcessId, type ProcessId } from '../../../contracts/ids.ts';

/**
 * The name of a connection in NATS: its identity or, for one that was let in only to be told, why it is refused. Clients, the list of
 * connections and the advisories of NATS all say this name, so that nothing else need be remembered of anybody.
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

/** The identity a name stands for; null where it is nobody's of the platform. */
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
