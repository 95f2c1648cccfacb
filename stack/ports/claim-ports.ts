import { SvcError } from '../../services/contracts/errors.ts';
import { type Ports, type PortWish, usualPorts } from './port-wishes.ts';

export interface Claim {
  readonly wishes: readonly PortWish[];
  /** What `auto` became before, and stays as long as it can. */
  readonly leased: Readonly<Record<string, number>>;
  /** What `auto` shall not become although it is free. */
  readonly avoid?: ReadonlySet<number>;
  /** How many ports `auto` skips: those who move at the same moment must not all move to the same place. Default 0. */
  readonly skip?: number;
  readonly isFree: (port: number, host: string) => Promise<boolean>;
  /** Who has a port that is taken, in words. */
  readonly holderOf: (port: number) => string;
}

export interface ClaimedPorts {
  readonly ports: Ports;
  /** What the operator should know: one line for each port that moved. */
  readonly notices: readonly string[];
}

/** How far `auto` looks; a machine with that many neighbours taken has another problem. */
const triesMax = 500;

/** A port that was asked for and is taken is a conflict; one that nobody asked for moves to the next that is free. */
export async function claimPorts(claim: Claim): Promise<ClaimedPorts> {
  const { wishes, leased, avoid, skip = 0, isFree, holderOf } = claim;
  const ports: Record<string, number> = {};
  const notices: string[] = [];
  const spoken = new Set<number>([
    ...Object.values(usualPorts),
    ...wishes.map(({ usual }) => usual),
    ...Object.values(leased),
    ...(avoid ?? []),
  ]);
  for (const { name, wanted, host, place } of wishes) {
    if (wanted === 'auto') continue;
    const twin = wishes.find((other) => ports[other.name] === wanted);
    if (twin !== undefined) {
      throw new SvcError('invalid_input', `${twin.place} and ${place} are both ${wanted}.`, {
        hint: 'Give each its own port in svc.yaml, or auto.',
      });
    }
    if (!(await isFree(wanted, host))) {
      throw new SvcError('conflict', `Port ${wanted} of ${name} is taken by ${holderOf(wanted)}.`, {
        hint: `Stop that program, or change ${place} in svc.yaml (auto takes the next free one).`,
      });
    }
    ports[name] = wanted;
    spoken.add(wanted);
  }
  for (const { name, wanted, usual, host } of wishes) {
    if (wanted !== 'auto') continue;
    const before = leased[name] ?? usual;
    const isOthers = Object.values(ports).includes(before);
    if (!isOthers && !avoid?.has(before) && (await isFree(before, host))) {
      ports[name] = before;
      continue;
    }
    const holder = isOthers ? 'another service of this installation' : holderOf(before);
    const port = await nextFree({ from: before + skip, spoken, isFree: (free) => isFree(free, host) });
    ports[name] = port;
    spoken.add(port);
    notices.push(`Port ${before} is taken by ${holder}: ${name} moved to ${port}, and stays there.`);
  }
  return { ports: { ...usualPorts, ...ports }, notices };
}

interface Search {
  readonly from: number;
  readonly spoken: ReadonlySet<number>;
  readonly isFree: (port: number) => Promise<boolean>;
}

async function nextFree({ from, spoken, isFree }: Search): Promise<number> {
  for (let port = from + 1; port <= Math.min(from + triesMax, 65_535); port++) {
    if (!spoken.has(port) && (await isFree(port))) return port;
  }
  throw new SvcError('conflict', `No port from ${from} to ${from + triesMax} is free.`, {
    hint: 'Set the ports in svc.yaml.',
  });
}
