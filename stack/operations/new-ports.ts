import { portWishesOf } from '../engines/plan-of.ts';
import { isFree } from '../machine/is-free.ts';
import { claimPorts } from '../ports/claim-ports.ts';
import { leasedPorts } from '../ports/port-lease.ts';
import type { Definition } from '../settings/definition.ts';
import type { Ports } from '../settings/ports.ts';
import { replaceScalar } from '../settings/yaml-text.ts';
import type { Installation } from '../state/installation.ts';

export interface NewPorts {
  readonly ports: Ports;
  /** svc.yaml with each port that it names replaced. */
  readonly text: string;
  readonly notices: readonly string[];
}

/** For each port of an installation another one that is free, so that a copy never takes what the original shall have. */
export async function newPorts(installation: Installation, definition: Definition, text: string): Promise<NewPorts> {
  const wishes = portWishesOf(definition);
  const before = leasedPorts(installation, wishes);
  const beside = wishes.flatMap(({ name, beside = [] }) => beside.map((distance) => (before[name] ?? 0) + distance));
  const { ports } = await claimPorts({
    wishes: wishes.map((wish) => ({ ...wish, wanted: 'auto' as const })),
    leased: before,
    avoid: new Set([...Object.values(before), ...beside]),
    isFree: (port, host) => isFree(host, port),
    holderOf: () => 'the original',
  });
  const named = wishes.filter(({ wanted }) => wanted !== 'auto');
  const places = [...new Set(named.map(({ place }) => place))];
  let changed = text;
  for (const place of places) {
    const group = named.filter((wish) => wish.place === place);
    const [only] = group;
    // Nodes of a cluster share one field, which names the port of the first of them.
    const value = group.length === 1 && only !== undefined ? String(ports[only.name]) : 'auto';
    changed = replaceScalar(changed, place.split('.'), value);
  }
  const moved = wishes.map(({ name }) => `${name} ${before[name]} → ${ports[name]}`);
  return { ports, text: changed, notices: [`Ports of the copy: ${moved.join(', ')}.`] };
}
