import { SvcError } from '../../contracts/errors.ts';
import { newId } from '../../contracts/ids.ts';
import type { Graph, Transaction } from '../graph/graph.ts';
import type { Secrets } from './secrets.ts';

/** Holds the fingerprints of the keys that records may be encrypted with, the one that encrypts first. */
export const encryptionKeysSetting = 'encryption_keys';

/**
 * Refuses to boot with a wrong encryption key, instead of failing at each record later. The first boot stores the key's
 * fingerprint. A new key is accepted together with the earlier one as ENCRYPTION_KEY_PREVIOUS, which stays required
 * until its fingerprint is removed after all records are re-encrypted.
 */
export async function checkEncryptionKey(
  graph: Pick<Graph, 'write'>,
  secrets: Pick<Secrets, 'fingerprints'>,
): Promise<void> {
  await graph.write(async (transaction) => {
    const stored = await transaction.findBy('setting', { name: encryptionKeysSetting }, null);
    const expected = stored === null ? [] : stored.value.split(' ');
    const [present = '', ...previous] = secrets.fingerprints;
    const [encrypting = present] = expected;
    if (encrypting !== present && !expected.includes(present) && !previous.includes(encrypting)) {
      throw wrongKey('ENCRYPTION_KEY', encrypting, present);
    }
    const missing = expected.find((fingerprint) => !secrets.fingerprints.includes(fingerprint));
    if (missing !== undefined) throw wrongKey('ENCRYPTION_KEY_PREVIOUS', missing, previous[0] ?? 'none');
    const keys = [present, ...expected.filter((fingerprint) => fingerprint !== present)].join(' ');
    if (keys !== stored?.value) await writeSetting(transaction, stored?.id ?? null, keys);
  });
}

async function writeSetting(transaction: Transaction, id: ReturnType<typeof newId<'setting'>> | null, value: string) {
  if (id !== null) await transaction.update('setting', id, { value }, { anchor: null });
  else await transaction.create('setting', { id: newId('setting'), name: encryptionKeysSetting, value });
}

function wrongKey(variable: string, expected: string, given: string): SvcError {
  return new SvcError(
    'invalid_input',
    `${variable} is not the key that this platform's records are encrypted with: expected the one with fingerprint ${expected}, given ${given}.`,
    {
      hint:
        variable === 'ENCRYPTION_KEY'
          ? 'Restore the key of this installation, or set ENCRYPTION_KEY_PREVIOUS to it while a new one takes over.'
          : 'Records are not all re-encrypted yet: set ENCRYPTION_KEY_PREVIOUS to the key with that fingerprint.',
    },
  );
}
