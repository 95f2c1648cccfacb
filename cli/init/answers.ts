import type { Place } from '../../services/contracts/clients/clients.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import { oneLine } from '../../services/contracts/one-line.ts';
import { findProgram } from '../../stack/machine/find-program.ts';
import { settings } from '../../stack/settings/settings.ts';
import { confirmed } from '../consent.ts';
import { describeEntry } from '../import/launch-of.ts';
import type { FoundServer } from '../import/sources.ts';
import { printable } from '../output/style.ts';
import type { Terminal } from '../output/terminal.ts';
import { cut } from '../output/width.ts';
import type { Chosen } from '../typed/how-it-runs.ts';
import { type Offered, serversOnMachine } from './found-servers.ts';

/** What `svc init` needs to know. Undefined: nobody has said it. */
export interface Given {
  readonly chosen: Chosen;
  readonly ownerEmail: string | undefined;
  readonly servers: readonly FoundServer[] | undefined;
  readonly shares: boolean | undefined;
  readonly starts: boolean | undefined;
}

/** Asks a person for everything that no flag said. The defaults of all questions together make an installation that runs. */
export async function askMissing(
  given: Given,
  { terminal, place }: { readonly terminal: Terminal; readonly place: Place },
): Promise<Given> {
  const chosen = await askHowItRuns(given.chosen, place);
  const ownerEmail = given.ownerEmail ?? (await askOwner());
  const servers = given.servers ?? (await askServers(terminal, place));
  const brings = servers.length > 0;
  const shares = given.shares ?? (brings && (await confirmed('Let agents use all their tools?')));
  const starts = given.starts ?? (brings || (await askStart()));
  return { chosen, ownerEmail, servers, shares, starts };
}

type Way = 'one' | 'several' | 'containers';

const ways: Readonly<Record<Way, Chosen>> = {
  one: { topology: 'embedded', engine: 'process' },
  several: { topology: 'distributed', engine: 'process' },
  containers: { topology: 'distributed', engine: 'docker' },
};

async function askHowItRuns(chosen: Chosen, { env }: Place): Promise<Chosen> {
  if (chosen.topology !== undefined || chosen.engine === 'docker') return chosen;
  const { select } = await import('@inquirer/prompts');
  const isThere = (program: string) => findProgram(program, env.PATH) !== null;
  const missing = (program: string) => (isThere(program) ? '' : ` ${program} was not found on the PATH.`);
  const all = [
    {
      value: 'one',
      name: 'one process, with its data in a file',
      description: 'For one machine, and the simplest. It needs nothing else, and can be moved later.',
    },
    {
      value: 'several',
      name: 'a process for each service, connected by NATS',
      description: `For more load, and for runtimes on other machines. It needs nats-server.${missing('nats-server')}`,
    },
    {
      value: 'containers',
      name: 'a container for each service',
      description: `As before, in Docker.${missing('docker')}`,
    },
  ] as const;
  // A graph in Dgraph is a part of its own.
  const choices = all.filter(({ value }) => chosen.graph !== 'dgraph' || value !== 'one');
  const way = await select<Way>({ message: 'How does it run?', choices }, { output: process.stderr });
  return { ...chosen, ...ways[way], engine: chosen.engine ?? ways[way].engine };
}

async function askOwner(): Promise<string> {
  const { input } = await import('@inquirer/prompts');
  const { rule } = settings.parts.owner.parts.email;
  const validate = (text: string) =>
    rule.safeParse(text.trim()).success || `It must be ${rule.description ?? 'an e-mail address'}.`;
  const message = 'E-mail address of the owner (no mail is sent)';
  const said = await input({ message, default: 'owner@localhost', validate }, { output: process.stderr });
  return said.trim();
}

async function askServers(terminal: Terminal, place: Place): Promise<readonly FoundServer[]> {
  const { offered, unreadable } = serversOnMachine(place);
  for (const problem of unreadable) terminal.warn(`Not read: ${problem}`);
  if (offered.length === 0) return [];
  const { checkbox } = await import('@inquirer/prompts');
  const width = (terminal.columns ?? 80) - checkboxWidth;
  const choices = offered.map((one) => ({
    ...{ value: one.found, name: cut(describeOffered(one), width) },
    short: printable(oneLine(one.found.name)),
  }));
  const message = 'Agents on this machine use these MCP servers. Which ones come in?';
  return await checkbox<FoundServer>({ message, choices, pageSize: 12, loop: false }, { output: process.stderr });
}

/** The pointer, the box, and the space after each. */
const checkboxWidth = 6;

function describeOffered({ found, agents }: Offered): string {
  const { name, entry } = found;
  const launch = entry.kind === 'unreadable' ? '' : describeEntry(entry);
  return printable(oneLine(`${name} (${agents.join(', ')}): ${launch}`));
}

async function askStart(): Promise<boolean> {
  const { confirm } = await import('@inquirer/prompts');
  return confirm({ message: 'Start it now?', default: true }, { output: process.stderr });
}

/** The last question, with everything in view. Nothing is written before. */
export async function agreeToMake(terminal: Terminal): Promise<void> {
  if (terminal.interactive) {
    const { confirm } = await import('@inquirer/prompts');
    if (await confirm({ message: 'Is this right?', default: true }, { output: process.stderr })) return;
    throw new SvcError('cancelled', 'Nothing was written.');
  }
  throw new SvcError('invalid_input', 'These MCP servers run commands on this machine, so they must be confirmed.', {
    hint: 'Without a terminal, add --yes.',
  });
}
