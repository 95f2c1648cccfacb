import { oneLine } from '../../services/contracts/one-line.ts';
import { describeEntry } from '../import/launch-of.ts';
import type { FoundServer } from '../import/sources.ts';
import { facts } from '../output/table.ts';
import type { Terminal } from '../output/terminal.ts';
import type { Given } from './answers.ts';

/** Everything that `svc init` is about to do. */
export function describePlan(dir: string, given: Given, terminal: Terminal): string {
  const { chosen, ownerEmail = 'owner@localhost', servers = [], shares, starts } = given;
  const { topology = 'embedded', graph, engine = 'process' } = chosen;
  const where =
    topology === 'embedded' ? 'one process' : `one ${engine === 'docker' ? 'container' : 'process'} for each service`;
  const data = graph === 'dgraph' ? 'Dgraph' : 'SQLite';
  return facts(
    [
      ['Folder', dir],
      ['Runs as', `${where}, data in ${data}`],
      ['Owner', ownerEmail],
      ...servers.map((server, at): [string, string] => [at === 0 ? 'MCP servers' : '', describeServer(server)]),
      ...(servers.length === 0 ? [] : [['Agents', shares ? 'may use all their tools' : 'get no tools yet'] as const]),
      ['Starts', starts ? 'now' : 'with svc up'],
    ],
    terminal,
  );
}

function describeServer({ name, entry }: FoundServer): string {
  return oneLine(`${name}: ${entry.kind === 'unreadable' ? entry.problem : describeEntry(entry)}`);
}
