import { parseArgs } from 'node:util';
import { engines, graphs } from '../../settings/choices.ts';

export const usage = `npm run chaos -- [OPTIONS]

Fifty agents work while one part of a platform after the other is taken away, on 127.0.0.1. Ends by itself.

  --seconds N           how long faults are made (600)
  --away N              how long a part stays away (60)
  --seed N              order of the faults (random)
  --only WORDS          only faults whose name holds these words
  --engine ENGINE       ${engines.join(' or ')} (process)
  --graph GRAPH         ${graphs.join(' or ')} (sqlite)
  --clusters            three nodes of NATS, and of Dgraph where it is the graph
  --faketime LIBRARY    libfaketimeMT.so.1, to set the clocks
  --hang                containers that hang, too
  --help                this text
`;

export type ChaosOptions = NonNullable<ReturnType<typeof readOptions>>;

/** Null where the usage is asked for. Throws an Error whose message is for a terminal. */
export function readOptions(args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seconds: { type: 'string', default: '600' },
      away: { type: 'string', default: '60' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      only: { type: 'string', default: '' },
      engine: { type: 'string', default: 'process' },
      graph: { type: 'string', default: 'sqlite' },
      clusters: { type: 'boolean', default: false },
      faketime: { type: 'string' },
      hang: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  return {
    ...values,
    faketime: values.faketime === '' ? undefined : values.faketime,
    seconds: numberOf('seconds', values.seconds),
    away: numberOf('away', values.away),
    seed: numberOf('seed', values.seed),
    engine: oneOf('engine', engines, values.engine),
    graph: oneOf('graph', graphs, values.graph),
  };
}

function numberOf(name: string, text: string): number {
  const number = Number(text);
  if (text.trim() !== '' && Number.isFinite(number) && number >= 0) return number;
  throw new Error(`--${name} must be a number, not "${text}".`);
}

function oneOf<Name extends string>(option: string, names: readonly Name[], text: string): Name {
  const name = names.find((one) => one === text);
  if (name === undefined) throw new Error(`--${option} must be ${names.join(' or ')}, not "${text}".`);
  return name;
}
