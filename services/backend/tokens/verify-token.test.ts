import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { newId } from '../../contracts/ids.ts';
import { mcpTokenAudience, tokenAudience } from '../../contracts/token.ts';
import { createMcpTokenVerifier, createTokenVerifier, type TokenRules } from './verify-token.ts';

const present = generateKeyPairSync('ed25519');
const previous = generateKeyPairSync('ed25519');
const stranger = generateKeyPairSync('ed25519');
const user = newId('user');
const session = newId('browserSession');
const now = Date.parse('2026-01-01T00:00:00Z');

const rules: TokenRules = {
  issuer: 'service-platform',
  verifying: [
    { kid: 'present', key: present.publicKey },
    { kid: 'previous', key: previous.publicKey },
  ],
  isSignedIn: async (principal) => principal.user === user && principal.session === session,
  now: () => now,
};

const operatorClaims = {
  kind: 'operator',
  sub: 'root',
  iss: 'service-platform',
  aud: tokenAudience,
  exp: now / 1000 + 60,
};

const userClaims = { ...operatorClaims, kind: 'session', sub: user, sid: session };

function sign(claims: JWTPayload, key: KeyObject = present.privateKey, kid: string | undefined = 'present') {
  return new SignJWT(claims).setProtectedHeader({ alg: 'EdDSA', ...(kid === '' ? {} : { kid }) }).sign(key);
}

async function verify(token: string) {
  return await createTokenVerifier(rules)(token);
}

describe('accepted', () => {
  test('an operator by name', async () => {
    expect(await verify(await sign(operatorClaims))).toEqual({ kind: 'operator', name: 'root' });
  });

  test('a user who is signed in', async () => {
    expect(await verify(await sign(userClaims))).toEqual({ kind: 'user', user, session });
  });

  test('a token signed with the previous key', async () => {
    expect(await verify(await sign(operatorClaims, previous.privateKey, 'previous'))).toEqual({
      kind: 'operator',
      name: 'root',
    });
  });

  test('a token without key id, signed with the current key', async () => {
    expect(await verify(await sign(operatorClaims, present.privateKey, ''))).toEqual({
      kind: 'operator',
      name: 'root',
    });
  });
});

describe('refused', () => {
  const { exp: _, ...endless } = operatorClaims;
  const { kind: __, ...kindless } = operatorClaims;
  const cases: readonly (readonly [string, JWTPayload, RegExp])[] = [
    ['another issuer', { ...operatorClaims, iss: 'elsewhere' }, /claim "iss"/],
    ['another audience', { ...operatorClaims, aud: 'http://localhost:3001/mcp' }, /claim "aud"/],
    ['a token that expired', { ...operatorClaims, exp: now / 1000 - 1 }, /has expired/],
    ['a token that expires now', { ...operatorClaims, exp: now / 1000 }, /has expired/],
    ['a token that never expires', endless, /claim "exp"/],
    ['a token not yet valid', { ...operatorClaims, nbf: now / 1000 + 30 }, /claim "nbf"/],
    ['a token without a kind', kindless, /claim "kind"/],
    ['a token of another kind', { ...operatorClaims, kind: 'agent' }, /claim "kind"/],
    ['an operator without a name', { ...operatorClaims, sub: '' }, /claim "sub"/],
    ['a session without a user id', { ...userClaims, sub: 'root' }, /claim "sub"/],
    ['a session without its own id', { ...userClaims, sid: user }, /claim "sid"/],
    ['a session that has ended', { ...userClaims, sid: newId('browserSession') }, /session it was issued to has ended/],
    ['the session of another user', { ...userClaims, sub: newId('user') }, /session it was issued to has ended/],
  ];
  test.each(cases)('%s', async (_name, claims, message) => {
    await expect(verify(await sign(claims))).rejects.toMatchObject({
      code: 'unauthenticated',
      message: expect.stringMatching(message),
    });
  });

  test('a key of another issuer, whatever key id it claims', async () => {
    await expect(verify(await sign(operatorClaims, stranger.privateKey))).rejects.toThrow(/signature is not ours/);
    await expect(verify(await sign(operatorClaims, stranger.privateKey, 'unknown'))).rejects.toThrow(/does not know/);
    await expect(verify(await sign(operatorClaims, stranger.privateKey, ''))).rejects.toThrow(/signature is not ours/);
  });

  test('no signature at all', async () => {
    await expect(verify(new UnsecuredJWT(operatorClaims).encode())).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  test('an HMAC made with the public key as its secret', async () => {
    const secret = Buffer.from(present.publicKey.export({ type: 'spki', format: 'pem' }));
    const token = await new SignJWT(operatorClaims).setProtectedHeader({ alg: 'HS256', kid: 'present' }).sign(secret);
    await expect(verify(token)).rejects.toThrow(/algorithm is not EdDSA/);
  });

  test.each(['', 'a.b.c', 'SVA_x', 'x'.repeat(10_000)])('text that is not a token', async (text) => {
    await expect(verify(text)).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  test('a token with a changed claim', async () => {
    const [header, , signature] = (await sign(operatorClaims)).split('.');
    const forged = Buffer.from(JSON.stringify({ ...operatorClaims, sub: 'other' })).toString('base64url');
    await expect(verify(`${header}.${forged}.${signature}`)).rejects.toThrow(/signature is not ours/);
  });
});

describe('remembered tokens', () => {
  test('end with their expiry', async () => {
    let time = now;
    const verifyAt = createTokenVerifier({ ...rules, now: () => time });
    const token = await sign(operatorClaims);
    await verifyAt(token);
    time += 59_000;
    await verifyAt(token);
    time += 1_000;
    await expect(verifyAt(token)).rejects.toThrow(/has expired/);
  });

  test('end with their session', async () => {
    let isSignedIn = true;
    const verifyUser = createTokenVerifier({ ...rules, isSignedIn: async () => isSignedIn });
    const token = await sign(userClaims);
    await verifyUser(token);
    isSignedIn = false;
    await expect(verifyUser(token)).rejects.toThrow(/has ended/);
  });
});

describe('a token for remote-mcp', () => {
  const workspace = newId('workspace');
  const mcpClaims = { ...operatorClaims, aud: mcpTokenAudience, workspace };
  const verifyForMcp = async (token: string) => await createMcpTokenVerifier(rules)(token);

  test('is accepted for its workspace', async () => {
    const expiresAt = now + 60_000;
    const token = await sign(mcpClaims);
    expect(await verifyForMcp(token)).toEqual({ kind: 'operator', name: 'root', workspace, expiresAt });
  });

  test('names a person who is signed in', async () => {
    const token = await sign({ ...userClaims, aud: mcpTokenAudience, workspace });
    expect(await verifyForMcp(token)).toEqual({ kind: 'user', user, session, workspace, expiresAt: now + 60_000 });
  });

  const { workspace: _, ...homeless } = mcpClaims;
  test.each<readonly [string, JWTPayload, RegExp]>([
    ['for GraphQL', { ...mcpClaims, aud: tokenAudience }, /claim "aud"/],
    ['of a person without a session', { ...mcpClaims, kind: 'session', sub: user }, /claim "sid"/],
    [
      'of a session that has ended',
      { ...mcpClaims, kind: 'session', sub: user, sid: newId('browserSession') },
      /session it was issued to has ended/,
    ],
    ['of an agent', { ...mcpClaims, kind: 'agent' }, /claim "kind"/],
    ['without a workspace', homeless, /claim "workspace"/],
    ['with something else for a workspace', { ...mcpClaims, workspace: user }, /claim "workspace"/],
    ['that expired', { ...mcpClaims, exp: now / 1000 - 1 }, /has expired/],
  ])('is refused: one %s', async (_what, claims, why) => {
    await expect(verifyForMcp(await sign(claims))).rejects.toMatchObject({
      ...{ code: 'unauthenticated', message: expect.stringMatching(why) },
    });
  });

  test('is refused with the signature of another platform', async () => {
    const foreign = await sign(mcpClaims, stranger.privateKey);
    await expect(verifyForMcp(foreign)).rejects.toMatchObject({ message: expect.stringMatching(/not ours/) });
  });

  test('is no token for GraphQL', async () => {
    await expect(verify(await sign(mcpClaims))).rejects.toMatchObject({
      message: expect.stringMatching(/claim "aud"/),
    });
  });
});
