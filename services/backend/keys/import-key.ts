import { SvcError } from '../../contracts/errors.ts';
import { type KeyRefusal, parseKey } from '../../contracts/keys.ts';
import type { Secret } from '../../contracts/secret.ts';
import type { ChangeNeeds } from '../activity/change.ts';
import type { Node } from '../graph/graph.ts';
import { requireOperator } from '../members/access.ts';
import type { WithSecrets } from '../secrets/secrets.ts';
import { addKey, type CreateKeyInput, type KeyRequest } from './create-key.ts';
import { findKeyBySecret } from './find-key.ts';

/** A shorter text could be guessed: an older key has the length of a random UUID or more. */
const lengthMin = 24;

/**
 * Adds a key of an older installation (specification part 5, "Agent API keys", rule 2), so that its agents keep it. Only
 * an operator may do this: a member who knows the key of another workspace could otherwise take over its agents.
 */
export async function importKey(
  backend: ChangeNeeds & WithSecrets,
  request: KeyRequest,
  { input, text }: { readonly input: CreateKeyInput; readonly text: string },
): Promise<Node<'key'>> {
  requireOperator(request.principal, 'import a key');
  const secret = parseImported(text);
  // A revoked key is known too, and stays revoked.
  if ((await findKeyBySecret(backend, secret)) !== null) throw known();
  return await addKey(backend, request, { input, secret });
}

function known(): SvcError {
  return new SvcError('conflict', 'This key is known to the platform already.', {
    hint: 'See what it can use: svc keys explain --key-file FILE',
  });
}

/** The text may be a secret of another kind, so it is not repeated. */
function parseImported(text: string): Secret {
  const parsed = parseKey(text);
  if (!parsed.ok) throw new SvcError('invalid_input', refusals[parsed.refusal], { hint: newKeyHint });
  if (parsed.kind !== 'legacy') {
    throw new SvcError(
      'invalid_input',
      `Only older keys, which start with USK, can be imported. ${others[parsed.kind]}`,
      {
        hint: newKeyHint,
      },
    );
  }
  if (text.length >= lengthMin) return parsed.key;
  throw new SvcError('invalid_input', `The key has fewer than ${lengthMin} characters, so it could be guessed.`, {
    hint: newKeyHint,
  });
}

const newKeyHint = 'Create a new key instead: svc keys create NAME';

const others = {
  user: 'A key that starts with SVA_ belongs to the platform that created it.',
  runtime: 'This is the key of a runtime.',
  system: 'This is the key of a component of the platform.',
  token: 'This is a signed token.',
} as const;

const refusals: Readonly<Record<KeyRefusal, string>> = {
  missing: 'No key was given.',
  retired: 'Workspace keys, which start with WSK_, are retired and cannot be imported.',
  unknown_prefix: 'The text is not an older key: it must start with USK.',
  malformed: 'The key has the wrong length or holds characters that no key has.',
  checksum: 'Only older keys, which start with USK, can be imported.',
};
