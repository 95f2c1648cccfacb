import type { RegistrationResponseJSON } from '@simplewebauthn/server';
import { SvcError } from '../../contracts/errors.ts';
import { newId } from '../../contracts/ids.ts';
import { parsePasskeyName } from '../../contracts/names.ts';
import type { Graph, Node, WithGraph } from '../graph/graph.ts';
import type { Place, WithSecrets } from '../secrets/secrets.ts';
import type { TokenPrincipal, UserPrincipal } from '../tokens/verify-token.ts';
import { getOwnUser, requireFreshProof, requirePerson } from './own-account.ts';
import { type RegistrationResponse, registrationShape } from './passkey-responses.ts';
import { passkeysOf, passkeysPerUserMax } from './passkeys.ts';
import { getRelyingParty, loadWebauthn, type WithPageAddress } from './relying-party.ts';
import { seal, sealedMaxAgeMs, unseal } from './sealed.ts';

const responseLengthMax = 16 * 1024;
/** COSE (RFC 9053): Ed25519, ES256, and RS256 of older Windows. */
const algorithms = [-8, -7, -257];

export interface BegunPasskey {
  /** PublicKeyCredentialCreationOptionsJSON (WebAuthn Level 3 §5.4). */
  readonly options: string;
  /** The challenge, readable by the platform only. */
  readonly ticket: string;
}

type AddNeeds = WithGraph & WithSecrets & WithPageAddress;

export async function beginPasskey(backend: AddNeeds, principal: TokenPrincipal): Promise<BegunPasskey> {
  const person = requirePerson(principal);
  const party = getRelyingParty(backend);
  await requireFreshProof(backend.graph, person);
  const user = await getOwnUser(backend.graph, person);
  const present = await checkRoom(backend.graph, person);
  const { generateRegistrationOptions } = await loadWebauthn();
  const options = await generateRegistrationOptions({
    ...{ rpName: party.id, rpID: party.id, userName: user.email, userDisplayName: user.name },
    userID: Uint8Array.from(Buffer.from(user.id)),
    attestationType: 'none',
    excludeCredentials: present.map(({ credentialId }) => ({ id: credentialId })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    supportedAlgorithmIDs: algorithms,
    timeout: sealedMaxAgeMs,
  });
  return { options: JSON.stringify(options), ticket: seal(backend, options.challenge, placeOf(person)) };
}

export interface NewPasskey {
  readonly ticket: string;
  /** RegistrationResponseJSON. */
  readonly response: string;
  readonly name: string;
}

export async function addPasskey(
  backend: AddNeeds,
  principal: TokenPrincipal,
  { ticket, response, name }: NewPasskey,
): Promise<Node<'passkey'>> {
  const person = requirePerson(principal);
  const given = parsePasskeyName(name);
  const begun = unseal(backend, ticket, placeOf(person));
  if (begun === null) {
    throw new SvcError('invalid_input', 'The passkey was not begun in this session within five minutes.', {
      hint: 'Begin again.',
    });
  }
  const { credential } = await verify(backend, parse(response), begun.value);
  return await backend.graph.write(async (transaction) => {
    await requireFreshProof(transaction, person);
    await checkRoom(transaction, person);
    return await transaction.create('passkey', {
      ...{ id: newId('passkey'), user: person.user, name: given, credentialId: credential.id },
      ...{ publicKey: Buffer.from(credential.publicKey).toString('base64url'), counter: credential.counter },
      transports: (credential.transports ?? []).join(','),
      ...{ lastChallengeAt: null, lastUsedAt: null, createdAt: Date.now() },
    });
  });
}

async function checkRoom(graph: Pick<Graph, 'select'>, { user }: UserPrincipal): Promise<readonly Node<'passkey'>[]> {
  const present = await passkeysOf(graph, user);
  if (present.length < passkeysPerUserMax) return present;
  throw new SvcError('conflict', `You have ${passkeysPerUserMax} passkeys, which is the limit.`, {
    hint: 'Remove one first.',
  });
}

async function verify(backend: AddNeeds, response: RegistrationResponse, expectedChallenge: string) {
  const { id, origin } = getRelyingParty(backend);
  const expected = { expectedChallenge, expectedOrigin: origin, expectedRPID: id, requireUserVerification: true };
  const { verifyRegistrationResponse } = await loadWebauthn();
  try {
    // A browser may send transports that the library does not know, so they are texts.
    const given = response as RegistrationResponseJSON;
    const verified = await verifyRegistrationResponse({
      ...{ ...expected, response: given, supportedAlgorithmIDs: algorithms },
    });
    if (verified.verified) return verified.registrationInfo;
    throw refused();
  } catch (thrown) {
    throw refused(thrown);
  }
}

function parse(text: string): RegistrationResponse {
  if (text.length > responseLengthMax) throw refused();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw refused();
  }
  const parsed = registrationShape.safeParse(value);
  if (parsed.success) return parsed.data;
  throw refused(parsed.error);
}

function refused(cause?: unknown): SvcError {
  const message = 'The passkey was refused: the response of the browser does not belong to this request.';
  return new SvcError('invalid_input', message, { hint: 'Begin again.', cause });
}

/** A challenge for another session, or for a sign-in, is none here. */
function placeOf({ session }: UserPrincipal): Place {
  return { node: session, field: 'challenge to add a passkey' };
}
