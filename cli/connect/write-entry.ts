import type { ConfiguredClient, Connection, Place } from '../../services/contracts/clients/clients.ts';
import { textOf } from '../../services/contracts/clients/snippet.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import { oneLine } from '../../services/contracts/one-line.ts';
import { requireConsent } from '../consent.ts';
import type { Terminal } from '../output/terminal.ts';
import { describeChange } from './changed-lines.ts';
import { clientFiles, type PlacedFile } from './client-files.ts';
import { readConfigFile, replaceConfigFile } from './config-file.ts';
import { mergeEntry } from './merge-entry.ts';

/** The file that `--write` changes. */
export function fileToWrite(client: ConfiguredClient, place: Place, scope: 'user' | 'project' | undefined): PlacedFile {
  const own = clientFiles(place).filter((file) => file.client.name === client.name && file.takesChanges);
  const chosen = own.find((file) => scope === undefined || file.scope === scope);
  if (chosen !== undefined) return chosen;
  throw new SvcError('unsupported', `${client.title} has no file of the ${scope} that may be changed.`, {
    hint: `Use --scope ${own[0]?.scope ?? 'user'}.`,
  });
}

export interface Writing {
  readonly file: PlacedFile;
  readonly connection: Connection;
  readonly place: Place;
  /** Whether the answer was given with --yes. */
  readonly yes: boolean;
}

export interface Written {
  readonly written: boolean;
  readonly backup: string | null;
}

/** Shows the difference, asks, and writes the client's entry into its file. */
export async function writeEntry({ file, connection, place, yes }: Writing, terminal: Terminal): Promise<Written> {
  const { client, scope, path } = file;
  const config = readConfigFile(path, scope === 'project' ? place.project : null);
  const merged = mergeEntry(config.text, { client, connection, file: path });
  if (merged === config.text) return { written: false, backup: null };
  const name = config.path === path ? path : `${path}, which is ${config.path}`;
  terminal.talk(config.stat === null ? `New file ${oneLine(name)}:` : `Change of ${oneLine(name)}:`);
  const own = textOf(client, connection);
  terminal.talk(describeChange({ before: config.text, after: merged, own, key: connection.key }));
  if (!yes) {
    await requireConsent(terminal, {
      question: `Write ${path}?`,
      unasked: `The change of "${path}" must be confirmed.`,
      declined: 'Nothing was written.',
    });
  }
  const holdsKey = connection.key !== null;
  return { written: true, backup: replaceConfigFile(config, { text: merged, holdsKey, now: new Date() }) };
}
