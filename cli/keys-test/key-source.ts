import { SvcError } from '../../services/contracts/errors.ts';
import { Secret } from '../../services/contracts/secret.ts';
import { readBounded } from '../../stack/machine/bounded-file.ts';
import type { Terminal } from '../output/terminal.ts';
import { askSecret } from '../typed/ask-secret.ts';
import { pastedKey } from './pasted-key.ts';

export interface KeySource {
  readonly keyFile: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly terminal: Terminal;
}

const keyMaxBytes = 4096;

/** A key from --key-file, SVC_API_KEY, stdin, or a masked prompt; never from an argument. */
export async function readKey(source: KeySource): Promise<Secret> {
  const { text, leftOut } = pastedKey(await readText(source));
  if (leftOut.length > 0) {
    source.terminal.warn(`The key was given with ${leftOut.join(' and ')}, which do not belong to it.`);
  }
  return new Secret(text);
}

async function readText({ keyFile, env, terminal }: KeySource): Promise<string> {
  if (keyFile !== undefined) return readKeyFile(keyFile);
  if (env.SVC_API_KEY) return env.SVC_API_KEY;
  if (!process.stdin.isTTY) {
    const text = await readStdin();
    if (text.trim() !== '') return text;
  }
  if (terminal.interactive) return await askSecret('API key');
  throw new SvcError('invalid_input', 'No key was given.', { hint: keyToTest });
}

const keyToTest = 'Set SVC_API_KEY, name a file with --key-file, or pipe the key to stdin.';

/** A key on the command line stays in the shell's history and in the list of processes. */
export function refuseKeyAsArgument(words: readonly string[], way = keyToTest): void {
  if (!words.some((word) => /^(SVA_|USK|WSK_|RTK_|SYK_)/.test(word))) return;
  throw new SvcError(
    'invalid_input',
    'A key must not be an argument: it would stay in the history and be seen in the list of processes.',
    {
      hint: `${way} Revoke a key that was typed on a shared machine.`,
    },
  );
}

export function readKeyFile(file: string): string {
  const options = { sizeMaxBytes: keyMaxBytes, name: `--key-file "${file}"`, takesPipes: true };
  return readBounded(file, options).toString('utf8');
}

export async function readStdin(): Promise<string> {
  let text = '';
  for await (const chunk of process.stdin) {
    text += chunk;
    if (text.length > keyMaxBytes) break;
  }
  return text;
}
