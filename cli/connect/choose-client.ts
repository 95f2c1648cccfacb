import {
  type Client,
  type ClientName,
  clientNames,
  clientOf,
  clients,
  type Place,
} from '../../services/contracts/clients/clients.ts';
import { suggestion } from '../../services/contracts/did-you-mean.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import type { Terminal } from '../output/terminal.ts';
import { findClientFiles } from './client-files.ts';

/** The client of --client, or a person's choice. Clients that are used on this machine come first. */
export async function chooseClient(typed: string | undefined, terminal: Terminal, place: Place): Promise<Client> {
  if (typed !== undefined) return clientOf(parseClient('--client', typed));
  const found = new Set(findClientFiles(place).map(({ client }) => client.name));
  const ordered = [...clients].sort((a, b) => Number(found.has(b.name)) - Number(found.has(a.name)));
  if (!terminal.interactive) {
    throw new SvcError('invalid_input', '--client is missing.', {
      hint: `Clients: ${ordered.map(({ name }) => name).join(', ')}. Such as: svc connect --client ${ordered[0]?.name ?? 'json'}`,
    });
  }
  const { select } = await import('@inquirer/prompts');
  const choices = ordered.map(({ name, title }) => ({
    value: name,
    name: found.has(name) ? `${title} (found on this machine)` : title,
  }));
  const message = 'Which agent do you connect?';
  return clientOf(await select<ClientName>({ message, choices, pageSize: choices.length }, { output: process.stderr }));
}

export function parseClient(flag: string, typed: string): ClientName {
  const name = clientNames.find((known) => known === typed.toLowerCase());
  if (name !== undefined) return name;
  throw new SvcError('invalid_input', `${flag} "${typed}" is not a known client.`, {
    hint: suggestion(typed, clientNames),
  });
}
