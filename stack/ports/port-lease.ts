import { z } from 'zod';
import { type Ports, type PortWish, usualPorts } from '../settings/ports.ts';
import type { Installation } from '../state/installation.ts';
import { stateFile } from '../state/state-file.ts';

const leases = z.record(z.string(), z.number().int());

/** `state/ports.json`: the values of `auto`, so that addresses stay the same from one start to the next. */
const leaseFile = stateFile('ports.json', leases);

export function readLease(installation: Installation): Readonly<Record<string, number>> {
  return leaseFile.read(installation) ?? {};
}

/** The ports of the process that holds a platform, from its arguments. */
export function parsePorts(text: string): Ports {
  return { ...usualPorts, ...leases.parse(JSON.parse(text)) };
}

/** A port that was chosen by hand is not stored: when `auto` takes its place again, it gets its earlier value. */
export function writeLease(installation: Installation, ports: Ports, wishes: readonly PortWish[]): void {
  const before = readLease(installation);
  const leased = wishes.map(({ name, wanted, usual }) => [
    name,
    wanted === 'auto' ? (ports[name] ?? usual) : (before[name] ?? usual),
  ]);
  // An absent part keeps its port for its return.
  leaseFile.write(installation, { ...before, ...Object.fromEntries(leased) });
}

/** The present or future ports, without a check whether they are free. */
export function leasedPorts(installation: Installation, wishes: readonly PortWish[]): Ports {
  const leased = readLease(installation);
  const ports = wishes.map(({ name, wanted, usual }) => [name, wanted === 'auto' ? (leased[name] ?? usual) : wanted]);
  return { ...usualPorts, ...Object.fromEntries(ports) };
}
