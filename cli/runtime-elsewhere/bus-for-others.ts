import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { SvcError } from '../../services/contracts/errors.ts';
import type { Definition } from '../../stack/settings/definition.ts';
import { isLoopbackServer } from '../../stack/settings/public-bus.ts';
import type { Installation } from '../../stack/state/installation.ts';

/** Refuses where the bus lies inside the one process: whatever was registered there could never connect. */
export function requireBusForOthers({ topology }: Definition): void {
  if (topology === 'distributed') return;
  throw new SvcError(
    'unsupported',
    'No other process can reach the bus of this installation: with topology: embedded it lies inside the one process. Nothing was registered.',
    {
      hint: 'Runtimes elsewhere need a bus of its own, where svc move --to distributed brings this installation with all its data.',
    },
  );
}

/** What runs was started before svc.yaml said that it has one. */
export function noBusYet(): SvcError {
  return new SvcError(
    'unavailable',
    'The platform that runs has no bus that others reach, although svc.yaml says so.',
    {
      hint: 'Make it run as svc.yaml says, and register the runtime then: svc up',
    },
  );
}

/** Who vouches for the bus where it speaks TLS: the PEM text, or null where systems know who does, or where it doesn't. */
export function authorityOf({ dir }: Installation, { bus }: Definition): string | null {
  const named = bus.public?.tls?.ca ?? bus.ca ?? null;
  if (named === null) return null;
  const file = resolve(dir, named);
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new SvcError(
      'invalid_input',
      `"${file}", which vouches for the bus, cannot be read. Nothing was registered.`,
      {
        hint: 'Mend svc.yaml, and look again: svc config check',
        cause,
      },
    );
  }
}

/** What must be said of how others reach it; null where nothing must. */
export function warningAbout(servers: readonly string[]): string | null {
  if (servers.every(isLoopbackServer)) {
    return `${servers.join(', ')} leads to the very machine it is used on: only this machine reaches the platform there. For others, set bus.public in svc.yaml and run svc up.`;
  }
  const open = servers.filter((server) => !server.startsWith('tls://') && !isLoopbackServer(server));
  return open.length === 0
    ? null
    : `${open.join(', ')} is reached without TLS: whoever listens on the way reads its key.`;
}
