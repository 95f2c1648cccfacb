import type { KeyReply, Principal } from '../../contracts/bus/messages.ts';
import { SvcError } from '../../contracts/errors.ts';
import type { KeyRefusal } from '../../contracts/keys.ts';

/** Why an agent's key is refused (part 5 of the specification, rules 1 to 6): from the header, from the text, or by the backend. */
export type Refusal = 'no_bearer' | KeyRefusal | 'wrong_kind' | Extract<KeyReply, { ok: false }>['refusal'];

interface Words {
  readonly message: string;
  readonly hint: string;
}

const newKeyHint = 'Create a key: svc keys create NAME';
const copyHint = 'Copy the whole key again: it was shown once, when it was created.';

const words: Readonly<Record<Refusal, Words>> = {
  missing: {
    message: 'The request carries no API key.',
    hint: 'Send the header "Authorization: Bearer <API_KEY>".',
  },
  no_bearer: {
    message: 'The Authorization header lacks the word Bearer.',
    hint: 'Send the header "Authorization: Bearer <API_KEY>".',
  },
  retired: {
    message: 'Workspace keys, which start with "WSK_", are retired and no longer accepted.',
    hint: newKeyHint,
  },
  unknown_prefix: {
    message: 'The API key starts with none of the accepted prefixes: "SVA_" and "USK".',
    hint: copyHint,
  },
  malformed: { message: 'The API key has the wrong length or holds characters that no key has.', hint: copyHint },
  checksum: { message: 'The API key has a typo: its checksum does not fit.', hint: copyHint },
  wrong_kind: { message: 'The key identifies a component of the platform, not an agent.', hint: newKeyHint },
  unknown: { message: 'The API key is not known to this platform.', hint: newKeyHint },
  expired: { message: 'The API key is past its expiration date', hint: newKeyHint },
  revoked: { message: 'The API key was revoked', hint: newKeyHint },
};

export function refuseSuspended({ suspended, workspaceName }: Principal): void {
  if (!suspended) return;
  throw new SvcError('forbidden', `The workspace "${workspaceName}" or its member is suspended.`, {
    hint: 'Ask an administrator of the workspace.',
  });
}

/** `at`: when the key expired or was revoked, if that is known. */
export function refusedKey(refusal: Refusal, at: number | null = null): SvcError {
  const { message, hint } = words[refusal];
  const dated = at === null ? '' : ` (${new Date(at).toISOString()})`;
  return new SvcError('unauthenticated', message.endsWith('.') ? message : `${message}${dated}.`, { hint });
}
