import { join } from 'node:path';
import { z } from 'zod';
import type { Auto, ListenerName } from '../definition/definition.ts';
import type { Installation } from '../installation.ts';
import { readJson, writeDurably } from '../state/durable-file.ts';
import { type Ports, usualPorts } from './claim-ports.ts';

const lease = z.object({
  backend: z.number().int(),
  'remote-mcp': z.number().int(),
  runtime: z.number().int(),
  frontend: z.number().int(),
});

/** `state/ports.json`: what `auto` became, so that the addresses stay the same from one start to the next. */
export function readLease({ stateDir }: Installation): Partial<Ports> {
  return lease.safeParse(readJson(leaseFile(stateDir))).data ?? {};
}

/** Ports in a text, as a command hands them to the process that is to listen on them. */
export function formatPorts(ports: Ports): string {
  return JSON.stringify(ports);
}

export function parsePorts(text: string): Ports {
  return lease.parse(JSON.parse(text));
}

/** A port that was chosen by hand is no lease: where `auto` takes its place again, it becomes what it was before. */
export function writeLease(installation: Installation, ports: Ports, wanted: Wanted): void {
  const before = readLease(installation);
  const leaseOf = (name: ListenerName) => (wanted[name] === 'auto' ? ports[name] : (before[name] ?? usualPorts[name]));
  writeDurably(leaseFile(installation.stateDir), JSON.stringify(portsBy(leaseOf), null, 2));
}

/** The ports as they are, or would be, without asking whether they are free. */
export function leasedPorts(installation: Installation, wanted: Wanted): Ports {
  const leased = readLease(installation);
  return portsBy((name) => {
    const port = wanted[name];
    return port === 'auto' ? (leased[name] ?? usualPorts[name]) : port;
  });
}

type Wanted = Readonly<Record<ListenerName, Auto<number>>>;

function portsBy(portOf: (name: ListenerName) => number): Ports {
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
