import { type Client, keyPlaceholder, keyVariable } from '../../services/contracts/clients/clients.ts';
import type { Terminal } from '../output/terminal.ts';

export interface Snippet {
  readonly client: Client;
  /** The client's own file for it; null for a client without one. */
  readonly file: string | null;
  readonly text: string;
}

/** Prints how a client connects. */
export function showSnippet({ client, file, text }: Snippet, terminal: Terminal): void {
  terminal.talk(file === null ? aboutOf(client) : `${client.title}, ${file}:`);
  terminal.result(text);
  terminal.json({ client: client.name, file, snippet: text, written: false, backup: null });
  terminal.talk(aboutKey(client, text));
}

function aboutOf(client: Client): string {
  return client.kind === 'text' ? `${client.title}. ${client.about}:` : `${client.title}:`;
}

/** Where the client has its key from. */
export function aboutKey(client: Client, snippet: string): string {
  if (client.kind === 'file' && client.keyFrom === 'input')
    return `${client.title} asks for the API key once, and keeps it.`;
  if (snippet.includes(keyPlaceholder)) return `Put an API key in the place of ${keyPlaceholder}: svc keys create NAME`;
  return `${client.title} reads the API key from the variable ${keyVariable}: export ${keyVariable}=… before you start it.`;
}

/** Prints a new key, once. */
export function showNewKey(key: string, terminal: Terminal): void {
  terminal.result(key);
  terminal.talk('This key is shown only once. Keep it in a safe place.');
}
