import { join } from 'node:path';
import { z } from 'zod';
import type { Installation } from '../installation.ts';
import { readJson, writeDurably } from '../state/durable-file.ts';
import { type Ports, usualPorts } from './claim-ports.ts';

const lease = z.object({
  backend: z.number().int(),
  'remote-mcp': z.number().int(),
  runtime: z.number().int(),
  frontend: z.number().int(),
});

/** `state/ports.json`: which ports this installation has, so that its addresses stay the same from one start to the next. */
export function readLease({ stateDir }: Installation): Partial<Ports> {
  return lease.safeParse(readJson(leaseFile(stateDir))).data ?? {};
}

export function writeLease({ stateDir }: Installation, ports: Ports): void {
  writeDurably(leaseFile(stateDir), JSON.stringify(ports, null, 2));
}

/** The ports as they are, or would be, without asking whether they are free. */
export function leasedPorts(installation: Installation, wanted: Readonly<Record<keyof Ports, number | 'auto'>>): Ports {
  const leased = readLease(installation);
  const portOf = (name: keyof Ports) => {
    const port = wanted[name];
    return port === 'auto' ? (leased[name] ?? usualPorts[name]) : port;
  };
  return {
    backend: portOf('backend'),
    'remote-mcp': portOf('remote-mcp'),
    runtime: portOf('runtime'),
    frontend: portOf('frontend'),
  };
}

function leaseFile(stateDir: string): string {
  return join(stateDir, 'ports.json');
}
