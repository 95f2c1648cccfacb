import { oneLine } from '../../services/contracts/one-line.ts';
import type { ListedInstallation } from '../../stack/operations/list-installations.ts';
import type { KnownInstallation } from '../../stack/state/known-installations.ts';
import { details, spare, table } from './table.ts';
import type { Colour, Terminal } from './terminal.ts';

const colours: Readonly<Record<ListedInstallation['state'], Colour>> = {
  running: 'green',
  degraded: 'yellow',
  stopped: 'grey',
  gone: 'red',
  unknown: 'yellow',
};

/** All installations of a user. The command that ends what is left of a removed one follows. */
export function describeInstallations(installations: readonly ListedInstallation[], terminal: Terminal): string {
  if (installations.length === 0) return 'No installation of this user is known here. Create one: svc init';
  const rows = installations.map(({ name, dir, state, urls }) => [
    name ?? '–',
    terminal.paint(colours[state], state),
    dir ?? '–',
    state === 'running' || state === 'degraded' ? (urls?.app ?? '–') : '–',
  ]);
  const told = installations.flatMap(({ id, name, state, reason }) => {
    if (reason === null) return [];
    return [{ name: name ?? id, text: state === 'gone' ? `${reason} End it: svc down --id ${id}` : reason }];
  });
  const list = table(['NAME', 'STATE', 'FOLDER', spare('APP')], rows, terminal.columns);
  return told.length === 0 ? list : `${list}\n\n${details(told, terminal)}`;
}

export function describeForgotten({ name, dir, docker }: KnownInstallation): string {
  const volumes = docker === null ? '' : ' Its volumes stay in Docker.';
  return `The installation ${name} is no longer in ${oneLine(dir)}, and nothing of it runs. It is not listed any more.${volumes}`;
}
