import { type Client, keyVariable } from '../../services/contracts/clients/clients.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import { parseKey } from '../../services/contracts/keys.ts';
import { createKeyMutation } from '../../stack/client/generated/operations.ts';
import { confirmed } from '../consent.ts';
import { readKeyFile, readStdin } from '../keys-test/key-source.ts';
import type { Tenancy } from '../objects/platform.ts';
import type { Terminal } from '../output/terminal.ts';

/** The key of --key-file. Null without the flag. */
async function keyOfFile(file: string | undefined): Promise<string | null> {
  if (file === undefined) return null;
  const text = file === '-' ? await readStdin() : readKeyFile(file);
  return checked(text.trim(), `--key-file "${file}"`);
}

/** Only a key in its own form may become a part of the file. */
function checked(text: string, source: string): string {
  const parsed = parseKey(text);
  if (parsed.ok && (parsed.kind === 'user' || parsed.kind === 'legacy')) return text;
  throw new SvcError('invalid_input', `${source} does not hold an API key of an agent.`, {
    hint: 'Create one: svc keys create NAME',
  });
}

export interface KeyWish {
  readonly client: Client;
  readonly keyFile: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Opens the workspace for a new key. */
  readonly tenancy: () => Promise<Tenancy>;
  readonly roles: readonly string[];
}

/** A key, and the name under which it was just created. */
export interface KeyInUse {
  readonly key: string;
  readonly createdAs: string | null;
}

/** A key that a file is written with. Null: the client reads it from its variable or input. */
export async function keyToWrite(
  { client, keyFile, env, tenancy, roles }: KeyWish,
  terminal: Terminal,
): Promise<KeyInUse | null> {
  const given = await keyOfFile(keyFile);
  if (given !== null) return { key: given, createdAs: null };
  if (client.kind === 'text' || client.keyFrom !== null) return null;
  const fromVariable = env[keyVariable];
  if (fromVariable) return { key: checked(fromVariable.trim(), keyVariable), createdAs: null };
  const created = await offerKey(client, { tenancy, roles }, terminal);
  if (created !== null) return created;
  throw new SvcError(
    'invalid_input',
    `${client.title} reads its key from no variable, so its file must hold the key.`,
    {
      hint: `Set ${keyVariable}, name a file with --key-file, or pipe the key to --key-file -`,
    },
  );
}

/** Creates a key if a person wants one. Null: they do not, or nobody can be asked. */
export async function offerKey(
  client: Client,
  wish: Pick<KeyWish, 'tenancy' | 'roles'>,
  terminal: Terminal,
): Promise<KeyInUse | null> {
  if (!terminal.interactive) return null;
  if (!(await confirmed(`Create an API key for ${client.title} now?`))) return null;
  return await createKeyFor(client, wish, terminal);
}

/** Creates a key with the name of the client and today's date. */
export async function createKeyFor(
  { name }: Client,
  { tenancy, roles }: Pick<KeyWish, 'tenancy' | 'roles'>,
  terminal: Terminal,
): Promise<KeyInUse & { readonly createdAs: string }> {
  const { backend, workspace } = await tenancy();
  const input = {
    name: `${name} ${new Date().toISOString().slice(0, 10)}`,
    expiresAt: null,
    roles: roles.length === 0 ? null : [...roles],
  };
  const { createKey } = await backend.send(createKeyMutation, { workspace: workspace.id, input });
  terminal.talk(`Created the key "${createKey.key.name}".`);
  return { key: createKey.secret, createdAs: createKey.key.name };
}
