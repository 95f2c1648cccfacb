import { SvcError } from '../../services/contracts/errors.ts';
import { Secret } from '../../services/contracts/secret.ts';
import { readBounded } from '../../stack/machine/bounded-file.ts';
import type { Terminal } from '../output/terminal.ts';

export interface KeySource {
  readonly keyFile: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly terminal: Terminal;
}

const keyMaxBytes = 4096;

/** The key to test: from --key-file, SVC_API_KEY, stdin, or a masked prompt; never from an argument. */
export async function readKey({ keyFile, env, terminal }: KeySource): Promise<Secret> {
  if (keyFile !== undefined) return new Secret(oneLine(readKeyFile(keyFile)));
  if (env.SVC_API_KEY) return new Secret(oneLine(env.SVC_API_KEY));
  if (!process.stdin.isTTY) {
    const text = oneLine(await readStdin());
    if (text !== '') return new Secret(text);
  }
  if (terminal.interactive) {
    const { password } = await import('@inquirer/prompts');
    return new Secret(oneLine(await password({ message: 'API key', mask: true }, { output: process.stderr })));
  }
  throw new SvcError('invalid_input', 'No key was given.', {
    hint: 'Set SVC_API_KEY, name a file with --key-file, or pipe the key to stdin.',
  });
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

function oneLine(text: string): string {
  return text.trim().split(/\r?\n/)[0] ?? '';
}
