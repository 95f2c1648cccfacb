import { SvcError } from '../../services/contracts/errors.ts';
import { type Auto, type ListenerName, listeners } from '../definition/definition.ts';

export type Ports = Readonly<Record<ListenerName, number>>;

/** The ports of part 8 of the specification. */
export const usualPorts: Ports = { backend: 3000, 'remote-mcp': 3001, runtime: 3003, frontend: 8888 };

export interface PortWishes {
  readonly wanted: Readonly<Record<ListenerName, Auto<number>>>;
  /** What `auto` became before, and stays as long as it can. */
  readonly leased: Readonly<Partial<Record<ListenerName, number>>>;
  /** What `auto` shall not become although it is free. */
  readonly avoid?: ReadonlySet<number>;
  /** How many ports `auto` skips: those who move at the same moment must not all move to the same place. Default 0. */
  readonly skip?: number;
  readonly isFree: (port: number) => Promise<boolean>;
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
export async function claimPorts(wishes: PortWishes): Promise<ClaimedPorts> {
  const ports: Partial<Record<ListenerName, number>> = {};
  const notices: string[] = [];
  const spoken = new Set<number>([
    ...Object.values(usualPorts),
    ...Object.values(wishes.leased),
    ...(wishes.avoid ?? []),
  ]);
  for (const name of listeners) {
    const wanted = wishes.wanted[name];
    if (wanted === 'auto') continue;
    const twin = listeners.find((other) => ports[other] === wanted);
    if (twin !== undefined) {
      throw new SvcError('invalid_input', `ports.${twin} and ports.${name} are both ${wanted}.`, {
        hint: 'Give each its own port in svc.yaml, or auto.',
      });
    }
    if (!(await wishes.isFree(wanted))) {
      throw new SvcError('conflict', `Port ${wanted} of ${name} is taken by ${wishes.holderOf(wanted)}.`, {
        hint: `Stop that program, or change ports.${name} in svc.yaml (auto takes the next free one).`,
      });
    }
    ports[name] = wanted;
    spoken.add(wanted);
  }
  for (const name of listeners) {
    if (wishes.wanted[name] !== 'auto') continue;
    const before = wishes.leased[name] ?? usualPorts[name];
    const isOthers = listeners.some((other) => ports[other] === before);
    if (!isOthers && !wishes.avoid?.has(before) && (await wishes.isFree(before))) {
      ports[name] = before;
      continue;
    }
    const holder = isOthers ? 'another service of this installation' : wishes.holderOf(before);
    const port = await nextFree(before + (wishes.skip ?? 0), spoken, wishes);
    ports[name] = port;
    spoken.add(port);
    notices.push(`Port ${before} is taken by ${holder}: ${name} moved to ${port}, and stays there.`);
  }
  return { ports: { ...usualPorts, ...ports }, notices };
}

async function nextFree(from: number, spoken: ReadonlySet<number>, wishes: PortWishes): Promise<number> {
  for (let port = from + 1; port <= Math.min(from + triesMax, 65_535); port++) {
    if (!spoken.has(port) && (await wishes.isFree(port))) return port;
  }
  throw new SvcError('conflict', `No port from ${from} to ${from + triesMax} is free.`, {
    hint: 'Set the ports in svc.yaml.',
  });
}
