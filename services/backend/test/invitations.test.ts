import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId, type WorkspaceId } from '../../contracts/ids.ts';
import { graphqlPath } from '../../contracts/token.ts';
import { Browser } from './browser.ts';
import { startTestBackend, type TestBackend } from './start-test-backend.ts';

let backend: TestBackend;
let count = 0;
beforeAll(async () => {
  backend = await startTestBackend();
});
afterAll(() => backend.stop());

const fresh = () => `person-${++count}@example.com`;

async function addWorkspace(ownerEmail = 'owner@example.com'): Promise<WorkspaceId> {
  const query = 'mutation ($i: CreateWorkspaceInput!) { createWorkspace(input: $i) { id } }';
  return (await backend.must(query, { i: { name: `W${++count}`, ownerEmail } })).createWorkspace.id;
}

const inviteQuery = (role = 'editor') =>
  `mutation ($w: ID!, $e: String!) { inviteMember(workspace: $w, input: { email: $e, role: ${role} }) { id email role url } }`;

/** The token in the link that the mail has. */
async function invite(w: WorkspaceId, e: string, role?: string): Promise<string> {
  const { inviteMember } = await backend.must(inviteQuery(role), { w, e });
  const { pathname, hash } = new URL(inviteMember.url);
  expect(pathname).toBe('/invitation');
  return hash.slice('#token='.length);
}

async function membersOf(w: WorkspaceId): Promise<{ email: string; role: string }[]> {
  const query = 'query ($w: ID!) { workspace(id: $w) { members { nodes { role person { email } } } } }';
  const { workspace } = await backend.must(query, { w });
  return workspace.members.nodes.map(({ role, person }: { role: string; person: { email: string } }) => ({
    ...{ email: person.email, role },
  }));
}

async function signIn(email: string): Promise<Browser> {
  const { createSignInLink } = await backend.must(`mutation { createSignInLink(email: "${email}") { url } }`);
  const browser = new Browser(backend.url);
  await browser.post('/account/link', { token: new URL(createSignInLink.url).hash.slice('#token='.length) });
  return browser;
}

const newBrowser = () => new Browser(backend.url);
const repeat = (times: number, text: string): readonly string[] => Array.from({ length: times }, () => text);

describe('an invitation', () => {
  test('comes by mail, shows what it is for, and makes a new person a member, signed in', async () => {
    const w = await addWorkspace();
    const email = fresh();
    const token = await invite(w, email.toUpperCase());
    await expect.poll(() => backend.logged.join('')).toContain(`/invitation#token=${token}`);
    const browser = newBrowser();
    const shown = { workspace: expect.any(String), email, role: 'editor', hasAccount: false };
    expect((await browser.post('/account/invitation', { token })).body).toEqual(shown);
    expect((await membersOf(w)).length).toBe(1);
    const { status, body } = await browser.post('/account/invitation/accept', { token, name: ' Zoë Łuk ' });
    expect([status, body.user]).toEqual([200, { id: expect.any(String), email, name: 'Zoë Łuk' }]);
    expect(await browser.signedInAs()).toBe(body.user.id);
    expect(await membersOf(w)).toContainEqual({ email, role: 'editor' });
    const activity =
      'query ($w: ID!) { workspace(id: $w) { activity(first: 1) { nodes { actorName action subjectName } } } }';
    expect((await backend.must(activity, { w })).workspace.activity.nodes).toEqual([
      { actorName: 'Zoë Łuk', action: 'create', subjectName: email },
    ]);
  });

  test('shows its address in the activity to owner and admin alone', async () => {
    const w = await addWorkspace();
    const invited = fresh();
    await invite(w, invited);
    const query = 'query ($w: ID!) { workspace(id: $w) { activity { nodes { subjectKind subjectName } } } }';
    const namesFor = async (role: string) => {
      const email = fresh();
      await backend.must(
        `mutation ($w: ID!, $e: String!) { addMember(workspace: $w, input: { email: $e, role: ${role} }) { id } }`,
        { w, e: email },
      );
      const person = await signIn(email);
      const { text, body } = await person.post(graphqlPath, { query, variables: { w } });
      const isOfPerson = ({ subjectKind }: { subjectKind: string }) => /^(invitation|member)$/.test(subjectKind);
      const of = body.data.workspace.activity.nodes.filter(isOfPerson);
      return { text, names: new Set(of.map(({ subjectName }: { subjectName: string }) => subjectName)) };
    };
    for (const role of ['viewer', 'editor']) {
      const { text, names } = await namesFor(role);
      expect(names).toEqual(new Set(['a person']));
      expect(text).not.toContain(invited);
    }
    for (const role of ['admin', 'owner']) expect((await namesFor(role)).names).toContain(invited);
  });

  test('is found in the activity by its address by owner and admin alone', async () => {
    const w = await addWorkspace();
    const invited = fresh();
    await invite(w, invited);
    const query =
      'query ($w: ID!, $s: String) { workspace(id: $w) { activity(search: $s) { nodes { subjectKind } pageInfo { next } } } }';
    const findersOf = async (search: string) => {
      const found: string[] = [];
      for (const role of ['viewer', 'editor', 'admin', 'owner'] as const) {
        const { token } = await backend.addMember(w, role);
        const { data } = await backend.ask({ query, variables: { w, s: search }, token });
        const { nodes, pageInfo } = data.workspace.activity;
        expect(pageInfo.next).toBe(null);
        if (nodes.length > 0) found.push(role);
      }
      return found;
    };
    expect(await findersOf(invited)).toEqual(['admin', 'owner']);
    expect(await findersOf(invited.slice(0, 8).toUpperCase())).toEqual(['admin', 'owner']);
    expect(await findersOf('INVITATION created')).toEqual(['viewer', 'editor', 'admin', 'owner']);
    expect(await findersOf('removed invitation')).toEqual([]);
  });

  test('works once, also for two at the same moment', async () => {
    const w = await addWorkspace();
    const token = await invite(w, fresh());
    const accept = () => newBrowser().post('/account/invitation/accept', { token });
    const statuses = (await Promise.all([accept(), accept()])).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, 401]);
    expect((await accept()).status).toBe(401);
    expect((await newBrowser().post('/account/invitation', { token })).status).toBe(401);
  });

  test('is no key to an account that exists: its person signs in first', async () => {
    const w = await addWorkspace();
    const email = fresh();
    await newBrowser().post('/account/invitation/accept', { token: await invite(await addWorkspace(), email) });
    const token = await invite(w, email);
    const browser = newBrowser();
    expect((await browser.post('/account/invitation', { token })).body).toMatchObject({ hasAccount: true });
    const refused = await browser.post('/account/invitation/accept', { token });
    expect([refused.status, refused.headers.getSetCookie()]).toEqual([403, []]);
    // Nor is the session of somebody else.
    const other = await signIn('owner@example.com');
    expect((await other.post('/account/invitation/accept', { token })).status).toBe(403);
    const own = await signIn(email);
    expect((await own.post('/account/invitation/accept', { token })).status).toBe(200);
    expect(await membersOf(w)).toContainEqual({ email, role: 'editor' });
  });

  test('is replaced by another one for the same address, and may be withdrawn', async () => {
    const w = await addWorkspace();
    const email = fresh();
    const [first, second] = [await invite(w, email), await invite(w, email)];
    const list = 'query ($w: ID!) { workspace(id: $w) { invitations { nodes { id email } } } }';
    const { nodes } = (await backend.must(list, { w })).workspace.invitations;
    expect(nodes).toEqual([{ id: second.split('.')[0], email }]);
    expect((await newBrowser().post('/account/invitation/accept', { token: first })).status).toBe(401);
    await backend.must('mutation ($w: ID!, $i: ID!) { withdrawInvitation(workspace: $w, id: $i) }', {
      w,
      i: nodes[0].id,
    });
    expect((await newBrowser().post('/account/invitation/accept', { token: second })).status).toBe(401);
  });

  test('is refused once it has expired, was changed, or its workspace is closed', async () => {
    const w = await addWorkspace();
    const token = await invite(w, fresh());
    const [, ...signature] = token.split('.');
    const link = await backend.must('mutation { createSignInLink(email: "owner@example.com") { url } }');
    const foreign = new URL(link.createSignInLink.url).hash.slice('#token='.length);
    const suspend = (s: boolean) =>
      backend.must('mutation ($w: ID!, $s: Boolean) { updateWorkspace(id: $w, input: { suspended: $s }) { id } }', {
        w,
        s,
      });
    const status = async (text: string) =>
      (await newBrowser().post('/account/invitation/accept', { token: text })).status;
    for (const text of ['', 'x', `${newId('invitation')}.${signature.join('.')}`, `${token}x`, foreign]) {
      expect([text, await status(text)]).toEqual([text, 401]);
    }
    // Nor does an invitation sign in as a link.
    expect((await newBrowser().post('/account/link', { token })).status).toBe(401);
    await suspend(true);
    expect(await status(token)).toBe(401);
    await suspend(false);
    await backend.withGraph((graph) =>
      graph.write(async (transaction) => {
        const { nodes } = await transaction.select({ type: 'invitation', anchor: w, limit: 10 });
        for (const { id } of nodes)
          await transaction.update('invitation', id, { expiresAt: Date.now() }, { anchor: w });
      }),
    );
    expect(await status(token)).toBe(401);
    expect((await membersOf(w)).length).toBe(1);
  });

  test('is not made for a member, a wrong address, or a role above the inviter’s own', async () => {
    const w = await addWorkspace();
    const { token } = await backend.addMember(w, 'admin');
    const ask = (e: string, role?: string) => backend.ask({ query: inviteQuery(role), variables: { w, e }, token });
    expect((await ask('owner@example.com')).code).toBe('conflict');
    expect((await ask('nobody')).code).toBe('invalid_input');
    expect((await ask(fresh(), 'owner')).code).toBe('forbidden');
    const { data } = await ask(fresh(), 'admin');
    // The inviter cannot accept in the name of the invited person.
    expect(data.inviteMember).toMatchObject({ role: 'admin', url: null });
  });

  test('gives no right that its inviter has lost, and replaces none of a higher role', async () => {
    const w = await addWorkspace();
    const { token: by, user } = await backend.addMember(w, 'admin');
    const email = fresh();
    const { data } = await backend.ask({ query: inviteQuery('admin'), variables: { w, e: email }, token: by });
    const list = 'query ($w: ID!) { workspace(id: $w) { invitations { nodes { id url } } } }';
    const { nodes } = (await backend.must(list, { w })).workspace.invitations;
    expect(nodes[0].id).toBe(data.inviteMember.id);
    const token = new URL(nodes[0].url).hash.slice('#token='.length);
    const status = async () => (await newBrowser().post('/account/invitation', { token })).status;
    const members = 'query ($w: ID!) { workspace(id: $w) { members { nodes { id person { id } } } } }';
    const found = (await backend.must(members, { w })).workspace.members.nodes as {
      id: string;
      person: { id: string };
    }[];
    const m = found.find(({ person }) => person.id === user)?.id;
    const update = (input: string) =>
      backend.must(`mutation ($w: ID!, $m: ID!) { updateMember(workspace: $w, id: $m, input: { ${input} }) { id } }`, {
        w,
        m,
      });
    expect(await status()).toBe(200);
    await update('suspended: true');
    expect(await status()).toBe(401);
    await update('suspended: false, role: editor');
    expect(await status()).toBe(401);
    await update('role: owner');
    expect(await status()).toBe(200);
    await backend.must('mutation ($w: ID!, $m: ID!) { removeMember(workspace: $w, id: $m) }', { w, m });
    expect(await status()).toBe(401);

    const { token: admin } = await backend.addMember(w, 'admin');
    const invited = fresh();
    await backend.must(inviteQuery('owner'), { w, e: invited });
    const replaced = await backend.ask({ query: inviteQuery('viewer'), variables: { w, e: invited }, token: admin });
    expect(replaced.code).toBe('forbidden');
  });

  test('to one address is sent a few times an hour at most, and changes nothing when it is not', async () => {
    const w = await addWorkspace();
    const email = fresh();
    for (let i = 0; i < 5; i++) await invite(w, email);
    const { code } = await backend.ask({
      query: inviteQuery(),
      variables: { w, e: email },
      token: await backend.operatorToken(),
    });
    expect(code).toBe('rate_limited');
    expect(
      (await backend.must('query ($w: ID!) { workspace(id: $w) { invitations { nodes { id } } } }', { w })).workspace
        .invitations.nodes,
    ).toHaveLength(1);
  });

  test('makes nobody an owner of more workspaces than a person may own', async () => {
    const email = fresh();
    for (let i = 0; i < 50; i++) await addWorkspace(email);
    const browser = await signIn(email);
    const w = await addWorkspace();
    const accept = async (role: string) =>
      (await browser.post('/account/invitation/accept', { token: await invite(w, email, role) })).body;
    expect(await accept('owner')).toMatchObject({ error: { code: 'too_large' } });
    expect((await accept('admin')).user.email).toBe(email);
  });

  test('that is false or used is refused at once, while another change is being written', async () => {
    const used = await invite(await addWorkspace(), fresh());
    expect((await newBrowser().post('/account/invitation/accept', { token: used })).status).toBe(200);
    const refused = await backend.withGraph((graph) =>
      graph.write(async (transaction) => {
        await transaction.findBy('user', { email: 'nobody@example.com' }, null);
        const began = performance.now();
        const accept = (token: string) => newBrowser().post('/account/invitation/accept', { token });
        const answers = await Promise.all(
          [`${used}x`, newId('invitation'), used].flatMap((token) => repeat(20, token)).map(accept),
        );
        return { statuses: new Set(answers.map(({ status }) => status)), tookMs: performance.now() - began };
      }),
    );
    expect(refused.statuses).toEqual(new Set([401]));
    expect(refused.tookMs).toBeLessThan(2000);
  });

  test('is refused with any other text around its token, which no answer and no log repeats', async () => {
    const w = await addWorkspace();
    const email = fresh();
    const token = await invite(w, email);
    const mark = 'mark-of-a-pasted-text';
    const texts = ['\0', '\n', '\r\n', '\u001b[2J', '\u009b2J', '\u202e', '\u200b', '\ud800', ' ', '%00', '#token='];
    const tried: [status: number, token: unknown][] = [
      ...texts.flatMap((text): [number, unknown][] => [
        [401, text + token],
        [401, token + text],
        [401, `${mark}${text}.${token}`],
      ]),
      [401, token.toUpperCase()],
      [401, token.replaceAll('.', '..')],
      [400, token + mark.repeat(10)],
      [413, mark.repeat(50_000)],
      ...[null, 1, [token], { token }].map((text): [number, unknown] => [400, text]),
    ];
    for (const [status, text] of tried) {
      for (const path of ['/account/invitation', '/account/invitation/accept']) {
        const answer = await newBrowser().post(path, { token: text });
        expect([text, answer.status]).toEqual([text, status]);
        expect(answer.text).not.toContain(mark);
      }
    }
    expect(backend.logged.join('')).not.toContain(mark);
    expect(await membersOf(w)).toEqual([{ email: 'owner@example.com', role: 'owner' }]);
    expect((await newBrowser().post('/account/invitation/accept', { token })).body.user.email).toBe(email);
  });

  test('of a removed workspace leads nowhere, also into one of the same name', async () => {
    const email = fresh();
    const create = 'mutation ($i: CreateWorkspaceInput!) { createWorkspace(input: $i) { id } }';
    const i = { name: `Removed ${++count}`, ownerEmail: 'owner@example.com' };
    const { createWorkspace } = await backend.must(create, { i });
    const token = await invite(createWorkspace.id, email);
    await backend.must('mutation ($w: ID!) { removeWorkspace(id: $w) }', { w: createWorkspace.id });
    const again = (await backend.must(create, { i })).createWorkspace.id;
    for (const path of ['/account/invitation', '/account/invitation/accept']) {
      expect((await newBrowser().post(path, { token })).status).toBe(401);
    }
    expect(await membersOf(again)).toEqual([{ email: 'owner@example.com', role: 'owner' }]);
  });

  test('keeps a name to its rule', async () => {
    const token = await invite(await addWorkspace(), fresh());
    for (const name of ['', ' ', 'a\nb', 'x'.repeat(81), '\u202eevil', 'y'.repeat(300)]) {
      expect([name, (await newBrowser().post('/account/invitation/accept', { token, name })).status]).toEqual([
        name,
        400,
      ]);
    }
    expect((await newBrowser().post('/account/invitation/accept', { token })).status).toBe(200);
  });
});
