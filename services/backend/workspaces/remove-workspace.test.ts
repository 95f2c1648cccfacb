import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId, type WorkspaceId } from '../../contracts/ids.ts';
import { schema, type TypeName } from '../graph/schema.ts';
import { checkKey } from '../keys/check-key.ts';
import { createKey } from '../keys/create-key.ts';
import { getAccess } from '../members/access.ts';
import { connectAgent } from '../oauth/connected-agents.ts';
import { Records } from '../oauth/records.ts';
import { createRole } from '../roles/change-roles.ts';
import { registerRuntime } from '../runtimes/register-runtime.ts';
import { createMcpServer } from '../servers/change-servers.ts';
import { createSkill } from '../skills/change-skills.ts';
import { addWorkspace, openTestBackend, operator, type TestBackend } from '../test/open-test-backend.ts';
import { createWorkspace } from './create-workspace.ts';
import { selectWorkspaces } from './find-workspaces.ts';
import { invite } from './invitations.ts';
import { continueRemovals, removeWorkspace } from './remove-workspace.ts';

let backend: TestBackend;
beforeAll(async () => {
  backend = await openTestBackend();
});
afterAll(() => backend.close());

type OwnedType = Parameters<typeof countOf>[0];
const ownedTypes = Object.keys(schema).filter((type): type is OwnedType => schema[type as TypeName].owned);

function countOf(type: 'skill' | 'file' | 'usage', anchor: WorkspaceId | 'everywhere'): Promise<number> {
  return backend.graph.count({ type, anchor, limit: 1 });
}

/** The number of objects of each type that the workspace owns. */
async function contentOf(workspace: WorkspaceId): Promise<Readonly<Record<string, number>>> {
  const counts = await Promise.all(ownedTypes.map(async (type) => [type, await countOf(type, workspace)] as const));
  return Object.fromEntries(counts);
}

let count = 0;
async function fullWorkspace(skills = 1) {
  const name = `full-${count++}`;
  const { id, owner } = await addWorkspace(backend, name);
  const server = await createMcpServer(backend, owner, id, { name: 'files', launch: { command: 'run' } });
  const tools = [
    { mcpServer: 'files', tool: 'read' },
    { mcpServer: 'files', tool: 'write_*' },
  ];
  const skill = await createSkill(backend, owner, id, { name: 's', tools });
  for (let number = 1; number < skills; number++) await createSkill(backend, owner, id, { name: `s-${number}` });
  const role = await createRole(backend, owner, id, {
    ...{ name: 'R', skills: [skill.id] },
    rules: [{ effect: 'deny', mcpServer: 'files', tool: 'x' }],
  });
  const key = await createKey(backend, { principal: owner, workspace: id }, { name: 'k', roles: [role.id] });
  const { runtime } = await registerRuntime(backend, owner, { workspace: id, name: 'edge' });
  await backend.graph.write(async (transaction) => {
    const of = { workspace: id, mcpServer: server.id };
    await transaction.create('file', {
      ...{ id: newId('file'), workspace: id, skill: skill.id, path: 'a', digest: 'd', sizeBytes: 1, createdAt: 1 },
    });
    await transaction.create('invitation', {
      ...{
        id: newId('invitation'),
        workspace: id,
        email: 'x@example.com',
        role: 'viewer',
        invitedBy: null,
        expiresAt: 1,
        createdAt: 1,
      },
    });
    const none = { challenge: null, issuer: null, clientKind: null, clientId: null, client: null, wantedScopes: null };
    const later = { scopes: null, pending: null, tokens: null, problem: null, dueAt: null, expiresAt: null };
    await transaction.create('integration', {
      ...{ id: newId('integration'), ...of, state: 'needs_authorization', attempts: 0, ...none, ...later },
      ...{ refreshedAt: null, connectedAt: null, createdAt: 1 },
    });
    await transaction.create('usage', {
      ...{ id: newId('usage'), ...of, hour: 1, slot: 's', key: 'k', tool: 't', skill: null },
      ...{ calls: 1, errors: 0, durationMs: 1 },
    });
    await transaction.create('status', {
      ...{ id: newId('status'), ...of, runtime: 'r', process: 'p', configVersion: 1, status: 'Connected' },
      ...{
        health: 'green',
        reason: null,
        toolsReason: null,
        stderr: '[]',
        restarts: 0,
        startedAt: 1,
        nextRetryAt: null,
      },
    });
  });
  return { id, name, owner, secret: key.secret.reveal(), runtime: runtime.id };
}

describe('a removed workspace', () => {
  test('takes everything with it, and nothing of another workspace', async () => {
    const [gone, other] = [await fullWorkspace(60), await fullWorkspace()];
    const before = await contentOf(other.id);
    // The workspace has objects of every type, so that a new type cannot be forgotten.
    expect(Object.entries(before).filter(([, number]) => number === 0)).toEqual([]);
    expect(await removeWorkspace(backend, operator, gone.id)).toBe(true);
    expect(Object.values(await contentOf(gone.id)).every((number) => number === 0)).toBe(true);
    expect(await contentOf(other.id)).toEqual(before);
    expect(await backend.graph.find('workspace', gone.id, null)).toBeNull();
    expect(await backend.graph.find('runtime', gone.runtime, null)).toBeNull();
    const where = [{ field: 'runtime', equals: gone.runtime }] as const;
    expect(await backend.graph.count({ type: 'runtimeKey', anchor: null, where, limit: 1 })).toBe(0);
    expect(await checkKey(backend, gone.secret, Date.now())).toMatchObject({ ok: false, refusal: 'unknown' });
    expect(await checkKey(backend, other.secret, Date.now())).toMatchObject({ ok: true });
    expect(backend.logged.some((line) => line.includes('removes a workspace') && line.includes(gone.name))).toBe(true);
    await expect(removeWorkspace(backend, operator, gone.id)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('leaves no grant of its connected agents, and no mail that waits', async () => {
    const [gone, other] = [await fullWorkspace(), await fullWorkspace()];
    const records = new Records(backend);
    const expiresAt = Date.now() + 60_000;
    for (const { id: workspace, owner } of [gone, other]) {
      await records.keep({ kind: 'Grant', id: workspace, grant: undefined, expiresAt, payload: {} });
      await records.keep({ kind: 'RefreshToken', id: workspace, grant: workspace, expiresAt, payload: {} });
      const agent = { roles: null, scope: 'tools', client: { id: 'c', name: 'Agent' }, grant: workspace } as const;
      const principal = { kind: 'user', user: owner.user, session: newId('browserSession') } as const;
      await connectAgent(backend, { principal, workspace, ...agent });
      await invite(backend, { principal: owner, workspace }, { email: `${workspace}@x.example`, role: 'viewer' });
    }
    await removeWorkspace(backend, operator, gone.id);
    const left = ({ id }: { readonly id: WorkspaceId }) =>
      Promise.all([
        ...(['Grant', 'RefreshToken'] as const).map(async (kind) => (await records.find({ kind, id })) !== null),
        backend.graph
          .count({ type: 'mail', anchor: null, where: [{ field: 'source', equals: id }], limit: 1 })
          .then((number) => number > 0),
      ]);
    expect([await left(gone), await left(other)]).toEqual([
      [false, false, false],
      [true, true, true],
    ]);
  });

  test('is removed by operators only', async () => {
    const { id, owner } = await fullWorkspace();
    await expect(removeWorkspace(backend, owner, id)).rejects.toMatchObject({ code: 'forbidden' });
    expect((await contentOf(id)).skill).toBe(1);
  });
});

describe('a workspace that is being removed', () => {
  /** As after a crash behind the first transaction. */
  async function closed() {
    const workspace = await fullWorkspace();
    await backend.graph.write((transaction) =>
      transaction.update('workspace', workspace.id, { name: workspace.id, suspended: true }, { anchor: null }),
    );
    return workspace;
  }

  test('does not exist for anybody, and its name is free', async () => {
    const { id, name, owner, secret } = await closed();
    for (const principal of [owner, operator]) {
      const access = getAccess(backend.graph, { principal, workspace: id, right: 'read' });
      await expect(access).rejects.toMatchObject({ code: 'not_found' });
      const made = createSkill(backend, principal, id, { name: 'late' });
      await expect(made).rejects.toMatchObject({ code: 'not_found' });
      const { nodes } = await selectWorkspaces(backend, principal, { limit: 100 });
      expect(nodes.map((workspace) => workspace.id)).not.toContain(id);
    }
    expect(await checkKey(backend, secret, Date.now())).toMatchObject({ ok: false });
    const { id: other } = await createWorkspace(backend, operator, { name, ownerEmail: 'a@b' });
    expect(other).not.toBe(id);
  });

  test('does not hide the others when a page has nothing else', async () => {
    await closed();
    const last = await createWorkspace(backend, operator, { name: 'zzz', ownerEmail: 'a@b' });
    let page = await selectWorkspaces(backend, operator, { limit: 1 });
    while (page.next !== null) {
      expect(page.nodes.length).toBe(1);
      if (page.nodes[0]?.id === last.id) return;
      page = await selectWorkspaces(backend, operator, { limit: 1, after: page.next });
    }
    expect(page.nodes[0]?.id).toBe(last.id);
  });

  test('is removed to its end after a crash', async () => {
    const { id } = await closed();
    await continueRemovals(backend, AbortSignal.timeout(10_000));
    expect(await backend.graph.find('workspace', id, null)).toBeNull();
    expect(Object.values(await contentOf(id)).every((number) => number === 0)).toBe(true);
  });
});
