import { basename, dirname, resolve } from 'node:path';
import type { ClientName, Place } from '../../services/contracts/clients/clients.ts';
import { expectedForm, type ListedServer, readServers } from '../../services/contracts/clients/read-servers.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import { findClientFiles, type PlacedFile } from '../connect/client-files.ts';
import { parseConfig } from '../connect/config-document.ts';
import { readConfigText } from '../connect/config-file.ts';

/** An MCP server of a file, and the file's surroundings. */
export interface FoundServer extends ListedServer {
  readonly file: string;
  /** Relative paths of the entry begin here. */
  readonly project: string;
  /** What the agent asks for, by id. */
  readonly inputs: ReadonlyMap<string, string>;
}

/** Folders of a project that hold the file of an agent. */
const configFolders: readonly string[] = ['.vscode', '.cursor', '.codex'];

/** The MCP servers of a file that a person named. */
export function serversOfFile(file: string): readonly FoundServer[] {
  const path = resolve(file);
  const folder = dirname(path);
  const project = configFolders.includes(basename(folder)) ? dirname(folder) : folder;
  return read(path, project, path.endsWith('.toml') ? 'toml' : 'json') ?? refuseForm(file);
}

/** The MCP servers of an agent on this machine. The project's file comes before the user's. */
export function serversOfClient(name: ClientName, place: Place): readonly FoundServer[] {
  const files = findClientFiles(place).filter(({ client }) => client.name === name);
  if (files.length === 0) {
    throw new SvcError('not_found', `No configuration file of ${name} was found on this machine.`, {
      hint: 'Name the file itself instead of the agent.',
    });
  }
  const projectFirst = files.toSorted((a, b) => Number(b.scope === 'project') - Number(a.scope === 'project'));
  const found = projectFirst.flatMap((file) => serversOfPlaced(file, place));
  // The first of a name wins, as it does for the agent.
  return found.filter(({ name }, at) => found.findIndex((other) => other.name === name) === at);
}

/** Empty for a file without MCP servers: agents keep other settings in it. */
export function serversOfPlaced({ path, client }: PlacedFile, { project }: Place): readonly FoundServer[] {
  return read(path, project, client.format) ?? [];
}

function read(path: string, project: string, format: 'json' | 'toml'): readonly FoundServer[] | null {
  const text = readConfigText(path).replace(/^\ufeff/, '');
  const read = readServers(parseConfig(format, text, path), project);
  return read === null ? null : read.servers.map((server) => ({ ...server, file: path, project, inputs: read.inputs }));
}

function refuseForm(file: string): never {
  throw new SvcError('invalid_input', `"${file}" has another form: it must be ${expectedForm}.`);
}
