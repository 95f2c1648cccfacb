import { Flags, Parser } from '@oclif/core';
import { engines, graphs } from '../../settings/choices.ts';

const flags = {
  seconds: Flags.integer({ summary: 'How long faults are made.', default: 600, min: 0 }),
  away: Flags.integer({ summary: 'How long a part stays away.', default: 60, min: 0 }),
  seed: Flags.integer({ summary: 'Order of the faults.', default: async () => Date.now() % 1_000_000 }),
  only: Flags.string({ summary: 'Only faults whose name contains these words.', default: '' }),
  engine: Flags.option({ summary: `${engines.join(' or ')}.`, options: engines, default: 'process' as const })(),
  graph: Flags.option({ summary: `${graphs.join(' or ')}.`, options: graphs, default: 'sqlite' as const })(),
  clusters: Flags.boolean({ summary: 'Three nodes of NATS, and of Dgraph if it is the graph.' }),
  faketime: Flags.string({ summary: 'The libfaketimeMT.so.1 that sets the clocks.' }),
  hang: Flags.boolean({ summary: 'Containers that hang, too.' }),
  help: Flags.boolean({ summary: 'This text.' }),
};

export type ChaosOptions = Awaited<ReturnType<typeof readOptions>>;

/** Ends the process with the usage, on request or if an option is wrong. */
export async function readOptions(args: readonly string[]) {
  const parsed = await Parser.parse([...args], { flags }).catch((error: Error) => error);
  const wrong = parsed instanceof Error ? parsed.message : null;
  if (!(parsed instanceof Error) && !parsed.flags.help) return parsed.flags;
  const rows = Parser.flagUsages(Object.values(flags)).map(([left, right]) => `${left.padEnd(22)}${right}\n`);
  process.stderr.write(`${wrong ?? 'npm run chaos -- [OPTIONS]'}\n\n${rows.join('')}`);
  process.exit(wrong === null ? 0 : 2);
}
