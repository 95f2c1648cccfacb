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
    'Other machines cannot reach the bus of this installation: with topology embedded it runs inside one process. Nothing was registered.',
    {
      hint: 'Runtimes on other machines need NATS. Move the installation to it, with all data: svc move --to distributed',
    },
  );
}

/** What runs was started before svc.yaml said that it has one. */
export function noBusYet(): SvcError {
  return new SvcError(
    'unavailable',
    'The running platform has no bus for other machines yet, although svc.yaml sets one.',
    {
      hint: 'Apply svc.yaml, then register the runtime again: svc up',
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
      `The certificate authority of the bus, "${file}", cannot be read. Nothing was registered.`,
      {
        hint: 'Correct svc.yaml, then check it: svc config check',
        cause,
      },
    );
  }
}

/** What must be said of how others reach it; null where nothing must. */
export function warningAbout(servers: readonly string[]): string | null {
  if (servers.every(isLoopbackServer)) {
    return `${servers.join(', ')} is a loopback address, which other machines cannot reach. Set bus.public in svc.yaml and run svc up.`;
  }
  const open = servers.filter((server) => !server.startsWith('tls://') && !isLoopbackServer(server));
  return open.length === 0 ? null : `${open.join(', ')} has no TLS: the key of the runtime can be read on the network.`;
}
