import { defaultServerName } from '../../services/contracts/clients/clients.ts';
import { textOf } from '../../services/contracts/clients/snippet.ts';
import { confirmed } from '../consent.ts';
import type { Tenancy } from '../objects/platform.ts';
import type { Terminal } from '../output/terminal.ts';
import { chooseClient } from './choose-client.ts';
import { createKeyFor } from './connection-key.ts';
import { here } from './here.ts';
import { showNewKey, showSnippet } from './show-snippet.ts';
import { fileToWrite } from './write-entry.ts';

/** Offers a person a key for an agent, and shows how the agent connects with it. Returns whether a key was made. */
export async function offerFirstKey(
  tenancy: Tenancy,
  address: () => Promise<URL>,
  terminal: Terminal,
): Promise<boolean> {
  if (!terminal.interactive || !(await confirmed('Create an API key for an agent now?'))) return false;
  const place = here();
  const client = await chooseClient(undefined, terminal, place);
  const { key } = await createKeyFor(client, { tenancy: async () => tenancy, roles: [] }, terminal);
  const text = textOf(client, { name: defaultServerName, url: `${await address()}`, key: null });
  const file = client.kind === 'file' ? fileToWrite(client, place, undefined).path : null;
  showSnippet({ client, file, text }, terminal);
  showNewKey(key, terminal);
  if (file !== null)
    terminal.talk(`Write it into the file of ${client.title}: svc connect --client ${client.name} --write`);
  return true;
}
