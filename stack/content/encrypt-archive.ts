import { ReadableStream } from 'node:stream/web';
import { SvcError } from '../../services/contracts/errors.ts';
import type { Secret } from '../../services/contracts/secret.ts';
import { beginningOf } from '../machine/bounded-file.ts';
import { damaged } from './archive-format.ts';

type Bytes = AsyncIterable<Uint8Array>;
type Transform = (source: Bytes) => AsyncGenerator<Uint8Array, void>;

/** Encrypts with a passphrase, in the age format (age-encryption.org/v1). */
export function encrypting(passphrase: Secret): Transform {
  return async function* (source) {
    const encrypter = new (await age()).Encrypter();
    encrypter.setPassphrase(passphrase.reveal());
    yield* await encrypter.encrypt(streamOf(source));
  };
}

/** Decrypts the bytes of a file. Throws `forbidden` for a wrong passphrase. */
export function decrypting(file: string, passphrase: Secret | null): Transform {
  return async function* (source) {
    checkHeader(file);
    if (passphrase === null) {
      throw new SvcError('invalid_input', `"${file}" is encrypted with a passphrase.`, {
        hint: 'Without a terminal, name a file that holds it: --passphrase-file FILE',
      });
    }
    const decrypter = new (await age()).Decrypter();
    decrypter.addPassphrase(passphrase.reveal());
    const plain = await decrypter.decrypt(streamOf(source)).catch((cause: unknown) => {
      throw new SvcError('forbidden', `The passphrase does not open "${file}".`, {
        hint: 'Type the passphrase that svc backup was given. If it is right, the file was changed.',
        cause,
      });
    });
    try {
      yield* plain;
    } catch (thrown) {
      throw damaged(file, 'cutOrChanged', thrown);
    }
  };
}

/** Whether a file says that it is encrypted. A file that cannot be read does not say so. */
export function isEncrypted(file: string): boolean {
  return beginningOf(file, headerMaxBytes).startsWith(magic);
}

/** Loaded on use: its curves take a tenth of a second, and most archives are not encrypted. */
const age = () => import('age-encryption');

const magic = 'age-encryption.org/v1\n';
/** A header for one passphrase, and the work that its key takes: 2 to this power. */
const header =
  /^age-encryption\.org\/v1\n-> scrypt [A-Za-z0-9+/]{22} (\d{1,2})\n[A-Za-z0-9+/]{43}\n--- [A-Za-z0-9+/]{43}\n/;
/** What age itself writes, which takes 256 MB and about a second. */
const workMax = 18;
const headerMaxBytes = 256;

/** A header is read whole and names the memory that is used for it, so both are bounded before anything is decrypted. */
function checkHeader(file: string): void {
  const [, work] = header.exec(beginningOf(file, headerMaxBytes)) ?? [];
  if (work === undefined) throw damaged(file, 'cutOrChanged');
  if (Number(work) <= workMax) return;
  throw new SvcError(
    'unsupported',
    `"${file}" was encrypted with the work factor ${work}, and ${workMax} is the limit.`,
    {
      hint: 'Encrypt it again with the usual factor: age --decrypt, then age --encrypt --passphrase',
    },
  );
}

function streamOf(source: Bytes) {
  // The library's types name the browsers' declaration of the same class.
  return ReadableStream.from(source) as globalThis.ReadableStream<Uint8Array>;
}
