import { SvcError, type SvcErrorOptions } from '../../services/contracts/errors.ts';
import { isCode } from '../machine/is-code.ts';
import { type PortWish, usualPorts } from '../settings/ports.ts';

export interface Claim {
  readonly wishes: readonly PortWish[];
  /** The last value of `auto`, kept as long as possible. */
  readonly leased: Readonly<Record<string, number>>;
  /** Parts whose leased port stays: the other nodes of their cluster know it. */
  readonly members?: ReadonlySet<string>;
  /** What `auto` shall not become although it is free. */
  readonly avoid?: ReadonlySet<number>;
  /** How many ports `auto` skips, so that concurrent platforms do not all move to the same one. Default 0. */
  readonly skip?: number;
  readonly isFree: (port: number, host: string) => Promise<boolean>;
  /** The owner of a port in use, in words. */
  readonly holderOf: (port: number) => string;
}

/** How far `auto` searches. */
const triesMax = 500;

/** Claims ports: a chosen one in use is a conflict; an `auto` one moves to the next free one, with a notice for the operator. */
export async function claimPorts(claim: Claim) {
  const { wishes, leased, members = new Set(), avoid, skip = 0, isFree, holderOf } = claim;
  const ports: Record<string, number> = {};
  const notices: string[] = [];
  const spoken = new Set<number>([
    ...Object.values(usualPorts),
    ...wishes.flatMap((wish) => portsOf(wish, wish.usual)),
    ...Object.values(leased),
    ...(avoid ?? []),
  ]);
  /** The first of a port and its companions that another program uses. */
  const takenOf = async (wish: PortWish, port: number): Promise<number | null> => {
    for (const one of portsOf(wish, port)) if (!(await isFree(one, wish.host))) return one;
    return null;
  };
  /** The wish that has claimed one of these ports. */
  const ownerOf = (claimed: readonly number[]) =>
    wishes.find((other) => portsOf(other, ports[other.name] ?? Number.NaN).some((port) => claimed.includes(port)));
  for (const wish of wishes) {
    const { name, wanted, place } = wish;
    if (wanted === 'auto') continue;
    const twin = ownerOf(portsOf(wish, wanted));
    if (twin !== undefined) {
      const same = twin.wanted === wanted ? `are both ${wanted}` : 'want the same port';
      throw new SvcError('invalid_input', `${twin.place} and ${place} ${same}.`, {
        hint: 'Give each its own port in svc.yaml, or auto.',
      });
    }
    const taken = await takenOf(wish, wanted);
    if (taken !== null) {
      throw new SvcError('conflict', `Port ${taken} of ${name} is in use by ${holderOf(taken)}.`, {
        hint: `Stop that program, or change ${place} in svc.yaml (auto takes the next free one).`,
      });
    }
    ports[name] = wanted;
    for (const port of portsOf(wish, wanted)) spoken.add(port);
  }
  for (const wish of wishes) {
    const { name, wanted, usual } = wish;
    if (wanted !== 'auto') continue;
    const before = leased[name] ?? usual;
    const others = portsOf(wish, before).find((port) => ownerOf([port]) !== undefined);
    const isAvoided = avoid?.has(before) === true && !members.has(name);
    const taken = others ?? (isAvoided ? before : await takenOf(wish, before));
    if (taken === null) {
      ports[name] = before;
      continue;
    }
    const holder = others === undefined ? holderOf(taken) : 'another service of this installation';
    if (members.has(name)) {
      throw new SvcError('conflict', `Port ${taken} of ${name} is in use by ${holder}.`, {
        hint: `The other nodes of its cluster know ${name} by this port, so it cannot move. Stop that program.`,
      });
    }
    const isFreeFor = async (port: number) =>
      !portsOf(wish, port).some((one) => spoken.has(one)) && (await takenOf(wish, port)) === null;
    const port = await nextFree(before + skip, isFreeFor);
    ports[name] = port;
    for (const one of portsOf(wish, port)) spoken.add(one);
    notices.push(`Port ${taken} is in use by ${holder}: ${name} moved to ${port}, and stays there.`);
  }
  return { ports: { ...usualPorts, ...ports }, notices };
}

function portsOf({ beside = [] }: PortWish, port: number): readonly number[] {
  return [port, ...beside.map((distance) => port + distance)];
}

async function nextFree(from: number, isFree: (port: number) => Promise<boolean>): Promise<number> {
  for (let port = from + 1; port <= Math.min(from + triesMax, 65_535); port++) if (await isFree(port)) return port;
  throw new SvcError('conflict', `No port from ${from} to ${from + triesMax} is free.`, {
    hint: 'Set the ports in svc.yaml.',
  });
}

/** Another program took a port first. The same start may succeed on another port. */
export function lostPort(message: string, { hint, cause }: SvcErrorOptions = {}): SvcError {
  const taken = Object.assign(new Error('its port is taken', { cause }), { code: 'EADDRINUSE' });
  return new SvcError('conflict', message, { ...(hint === undefined ? {} : { hint }), cause: taken });
}

export function isLostPort(error: unknown): boolean {
  return error instanceof SvcError && isCode(error.cause, 'EADDRINUSE');
}
