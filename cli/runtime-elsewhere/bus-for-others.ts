import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { SvcError } from '../../services/contracts/errors.ts';
import type { Definition } from '../../stack/settings/definition.ts';
import type { Installation } from '../../stack/state/installation.ts';

/** Refuses an embedded bus: a runtime registered for it could never connect. */
export function requireBusForOthers({ topology }: Definition): void {
  if (topology === 'distributed') return;
  throw new SvcError(
    'unsupported',
    'Other machines cannot reach the bus of this installation: with topology embedded it runs inside one process. Nothing was registered.',
    {
      hint: 'Runtimes on other machines need NATS. Move the installation to it, with all data: svc move --to distributed',
    },
  );
}

/** The platform started before svc.yaml set a bus for other machines. */
export function noBusYet(): SvcError {
  return new SvcError(
    'unavailable',
    'The running platform has no bus for other machines yet, although svc.yaml sets one.',
    {
      hint: 'Apply svc.yaml, then register the runtime again: svc up',
    },
  );
}

/** PEM text of the bus's certificate authority; null without TLS and for a public authority. */
export function authorityOf({ dir }: Installation, { bus }: Definition): string | null {
  const named = bus.public?.tls?.ca ?? bus.ca ?? null;
  if (named === null) return null;
  const file = resolve(dir, named);
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new SvcError(
      'invalid_input',
      `The certificate authority of the bus, "${file}", cannot be read. Nothing was registered.`,
      {
        hint: 'Correct svc.yaml, then check it: svc config check',
        cause,
      },
    );
  }
}
