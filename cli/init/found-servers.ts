import { existsSync } from 'node:fs';
import { clients, type Place } from '../../services/contracts/clients/clients.ts';
import { suggestion } from '../../services/contracts/did-you-mean.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import { findClientFiles } from '../connect/client-files.ts';
import { chosenServers } from '../import/judge-servers.ts';
import { type FoundServer, serversOfClient, serversOfFile, serversOfPlaced } from '../import/sources.ts';

/** An MCP server in the files of agents on this machine. */
export interface Offered {
  readonly found: FoundServer;
  /** Titles of the agents that use it. */
  readonly agents: readonly string[];
}

export interface OnMachine {
  readonly offered: readonly Offered[];
  /** Files that could not be read, with the reason. */
  readonly unreadable: readonly string[];
}

/** What agents of this machine use. The same launch under the same name is offered once. */
export function serversOnMachine(place: Place): OnMachine {
  const unreadable: string[] = [];
  const found = findClientFiles(place).flatMap((placed) => {
    try {
      return serversOfPlaced(placed, place).map((server) => ({ server, agent: placed.client.title }));
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      unreadable.push(error.message);
      return [];
    }
  });
  const startable = found.filter(({ server }) => !server.disabled && server.entry.kind !== 'unreadable');
  const byLaunch = Map.groupBy(startable, ({ server: { name, entry } }) => JSON.stringify([name, entry]));
  const offered = [...byLaunch.values()].flatMap((same) => {
    const [first] = same;
    return first === undefined ? [] : [{ found: first.server, agents: [...new Set(same.map(({ agent }) => agent))] }];
  });
  return { offered, unreadable };
}

const agents = clients.filter(({ kind }) => kind === 'file');
const agentNames = agents.map(({ name }) => name);

/** Those of --import, which names agents and files. An agent's own list leaves out those that are disabled, unless --only names them. */
export function serversNamed(names: readonly string[], only: readonly string[], place: Place): readonly FoundServer[] {
  const servers = names.flatMap((name) => {
    const client = agents.find((known) => known.name === name);
    if (client !== undefined) return serversOfClient(client.name, place);
    if (existsSync(name)) return serversOfFile(name);
    throw new SvcError('not_found', `"${name}" is neither a known agent nor a file.`, {
      hint: suggestion(name, agentNames),
    });
  });
  return chosenServers(servers, only).filter(({ disabled }) => !disabled || only.length > 0);
}
