import { SvcError } from '../../services/contracts/errors.ts';
import { Secret } from '../../services/contracts/secret.ts';
import { readBounded } from '../../stack/machine/bounded-file.ts';
import type { Terminal } from '../output/terminal.ts';
import { askHidden } from './ask-secret.ts';

export interface PassphraseSource {
  /** The file of --passphrase-file. */
  readonly file: string | undefined;
  readonly terminal: Terminal;
}

const passphraseMaxBytes = 4096;
/** An attacker with a copy of the archive may guess for years. */
const passphraseMinChars = 12;

/** A passphrase to encrypt with: typed twice without echo, or from a file. */
export async function newPassphrase(source: PassphraseSource): Promise<Secret> {
  const passphrase = await passphraseOf(source);
  if (passphrase.reveal().length < passphraseMinChars) {
    throw new SvcError('invalid_input', `The passphrase has fewer than ${passphraseMinChars} characters.`, {
      hint: 'Take five random words, or let a password manager make one.',
    });
  }
  if (source.file !== undefined) return passphrase;
  if ((await ask('The same passphrase again')) === passphrase.reveal()) return passphrase;
  throw new SvcError('invalid_input', 'The two passphrases differ.', { hint: 'Begin again, and type the same twice.' });
}

/** A passphrase to decrypt with: typed without echo, or from a file; never from an argument. */
export async function passphraseOf({ file, terminal }: PassphraseSource): Promise<Secret> {
  if (file !== undefined) {
    const options = { sizeMaxBytes: passphraseMaxBytes, name: `--passphrase-file "${file}"`, takesPipes: true };
    const [first = ''] = readBounded(file, options).toString('utf8').split(/\r?\n/);
    if (first !== '') return new Secret(first);
    throw new SvcError('invalid_input', `--passphrase-file "${file}" has an empty first line.`);
  }
  if (terminal.interactive) return new Secret(await ask('Passphrase of the archive'));
  throw new SvcError(
    'invalid_input',
    'An encrypted archive needs its passphrase, and there is no terminal to ask at.',
    {
      hint: 'Name a file that holds it: --passphrase-file FILE',
    },
  );
}

const ask = (question: string) => askHidden(question, { mask: false });
