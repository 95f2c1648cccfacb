import { resolve } from 'node:path';
import {
  expandLaunch,
  type ListedLaunch,
  type Reference,
  referencesIn,
} from '../../services/contracts/clients/read-servers.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import type { LaunchInput } from '../../services/contracts/launch.ts';
import { oneLine } from '../../services/contracts/one-line.ts';
import { findSecretWord, looksSecret, withoutSecretWords } from '../../services/contracts/secret-words.ts';
import { launchLine } from '../output/server.ts';
import type { FoundServer } from './sources.ts';

type Readable = Exclude<ListedLaunch, { kind: 'unreadable' }>;

/** The command or address as the file writes it, with references instead of their values, and without secrets. */
export function describeEntry(entry: Readable): string {
  if (entry.kind === 'url') {
    const [url = ''] = withoutSecretWords([entry.url]);
    const headers = entry.headers.map(({ name }) => ({ name, value: null }));
    return oneLine(launchLine({ command: null, args: null, url, env: [], headers }));
  }
  const [command = '', ...args] = withoutSecretWords([entry.command, ...entry.args]);
  const env = entry.env.map(({ name, value }) => ({ name, value: looksSecret(name, value) ? null : value }));
  return oneLine(launchLine({ command, args, url: null, env, headers: [] }));
}

export interface Values {
  readonly find: (reference: Reference) => string | undefined;
  readonly home: string;
  /** The MCP server runs on another machine or in a container, where the folders of this machine do not exist. */
  readonly elsewhere: boolean;
}

/** The launch with all values. Headers, and variables that look like a secret, become secrets of the platform. */
export function launchOf({ entry, project }: FoundServer & { readonly entry: Readable }, values: Values): LaunchInput {
  const folders = { workspaceFolder: project, userHome: values.home };
  const { launch, missing } = expandLaunch(entry, { find: values.find, folders });
  if (missing.length > 0) {
    throw new SvcError(
      'invalid_input',
      `It needs ${missing.map(({ kind, name }) => `the ${kind} ${name}`).join(' and ')}.`,
      {
        hint: 'Set the variable, or write NAME=value lines to a file for --variable-file.',
      },
    );
  }
  refuseSeenSecrets(entry, launch, values.find);
  if (entry.kind === 'url') return launch;
  const cwd = launch.cwd?.replace(/^~(?=\/|$)/, () => values.home) ?? null;
  return { ...launch, cwd: cwd === null ? (values.elsewhere ? null : project) : resolve(project, cwd) };
}

/** Members of the workspace see a command and an address. A secret in them could not be hidden. */
function refuseSeenSecrets(entry: Readable, launch: LaunchInput, find: Values['find']): void {
  const written = entry.kind === 'url' ? [entry.url] : [entry.command, ...entry.args];
  const seen = entry.kind === 'url' ? [launch.url ?? ''] : [launch.command ?? '', ...(launch.args ?? [])];
  const secret = referencesIn(written).find(
    (reference) => reference.kind === 'input' || looksSecret(reference.name, find(reference) ?? ''),
  );
  if (secret === undefined && findSecretWord(seen) === null) return;
  const where = entry.kind === 'url' ? 'address' : 'command';
  throw new SvcError('invalid_input', `Its ${where} holds a secret, which members of the workspace would see.`, {
    hint:
      entry.kind === 'url'
        ? 'Send the secret as a header, and import the MCP server again.'
        : `Take it from a variable: sh -c 'exec COMMAND --token "$NAME"', with NAME in "env", and import it again.`,
  });
}
