import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { memberKeyOf, memberOfKey, operatorKeyOf, type UserId, type WorkspaceId } from '../../contracts/ids.ts';
import { createSession, endSession } from '../accounts/browser-sessions.ts';
import { checkKey } from '../keys/check-key.ts';
import { addMember, addWorkspace, openTestBackend, operator, type TestBackend } from '../test/open-test-backend.ts';
import type { TokenPrincipal, UserPrincipal } from '../tokens/verify-token.ts';
import { createToolToken } from './create-tool-token.ts';

let backend: TestBackend;
let workspace: WorkspaceId;

beforeAll(async () => {
  backend = await openTestBackend();
  workspace = (await addWorkspace(backend, 'tools')).id;
});
afterAll(() => backend.close());

/** A member who is signed in. */
async function signedIn(role: string): Promise<UserPrincipal> {
  const { user } = await addMember(backend, workspace, role);
  return { kind: 'user', user, session: await newSession(user) };
}

async function newSession(user: UserId) {
  const session = await backend.graph.write((transaction) =>
    createSession(transaction, backend, { user, provenBy: 'link', device: 'Test' }),
  );
  return session.id;
}

const tokenFor = (principal: TokenPrincipal, of = workspace) => createToolToken(backend, { principal, workspace: of });
const check = async (principal: TokenPrincipal) =>
  checkKey(backend, (await tokenFor(principal)).token.reveal(), Date.now());

async function changeMember(user: UserId, change: { readonly role?: string; readonly suspended?: boolean } | null) {
  return await backend.graph.write(async (transaction) => {
    const member = await transaction.findBy('member', { user }, workspace);
    if (member === null) throw new Error('there is no such member');
    if (change === null) await transaction.remove('member', member.id, workspace);
    else await transaction.update('member', member.id, change, { anchor: workspace });
    return member.id;
  });
}

describe('a token to try tools', () => {
  test.each(['owner', 'admin'])(
    'opens every tool to the %s, in the name of the person, for five minutes',
    async (role) => {
      const admin = await signedIn(role);
      const { token, expiresAt } = await tokenFor(admin);
      expect(expiresAt - Date.now()).toBeGreaterThan(298_000);
      expect(expiresAt - Date.now()).toBeLessThanOrEqual(300_000);
      const member = await changeMember(admin.user, {});
      expect(await checkKey(backend, token.reveal(), Date.now())).toMatchObject({
        ok: true,
        principal: {
          ...{ key: memberKeyOf(member), keyName: `${admin.user}@example.com`, user: admin.user, workspace },
          ...{ suspended: false, roles: null, expiresAt, operator: true },
        },
      });
      expect(memberOfKey(memberKeyOf(member))).toBe(member);
    },
  );

  test('of an operator is that of svc tool call', async () => {
    expect(await check(operator)).toMatchObject({
      ok: true,
      principal: { key: operatorKeyOf(workspace), keyName: 'root', operator: true },
    });
  });

  test.each(['viewer', 'editor'])('is not made for the role %s', async (role) => {
    await expect(tokenFor(await signedIn(role))).rejects.toMatchObject({ code: 'forbidden' });
  });

  test('is not made for a suspended member', async () => {
    const admin = await signedIn('admin');
    await changeMember(admin.user, { suspended: true });
    await expect(tokenFor(admin)).rejects.toMatchObject({ code: 'forbidden' });
  });

  test('is not made for another workspace, which does not exist for the person', async () => {
    const other = await addWorkspace(backend, 'another');
    await expect(tokenFor(await signedIn('owner'), other.id)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('opens no GraphQL', async () => {
    const { token } = await tokenFor(await signedIn('admin'));
    await expect(backend.verifyToken(token.reveal())).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  test('ends with the session of the browser', async () => {
    const admin = await signedIn('admin');
    const { token } = await tokenFor(admin);
    await endSession(backend, admin.session);
    expect(await checkKey(backend, token.reveal(), Date.now())).toEqual({ ok: false, refusal: 'unknown', at: null });
  });

  test.each([
    ['the role', { role: 'editor' }],
    ['the membership', null],
  ] as const)('ends with %s', async (_what, change) => {
    const admin = await signedIn('admin');
    const { token } = await tokenFor(admin);
    await changeMember(admin.user, change);
    expect(await checkKey(backend, token.reveal(), Date.now())).toEqual({ ok: false, refusal: 'revoked', at: null });
  });

  test('of a member who was suspended since is reported, so that remote-mcp refuses it with 403', async () => {
    const admin = await signedIn('admin');
    const { token } = await tokenFor(admin);
    await changeMember(admin.user, { suspended: true });
    expect(await checkKey(backend, token.reveal(), Date.now())).toMatchObject({ principal: { suspended: true } });
  });
});
