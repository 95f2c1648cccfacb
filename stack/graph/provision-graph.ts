import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { SvcError } from '../../services/contracts/errors.ts';
import { graphAdmin, graphAdminGroup, graphGroup, graphUser } from '../parts/dgraph.ts';
import { readSecret, type SecretFiles } from '../secrets/secrets.ts';
import { accessToken, askDgraph, type Dgraph, mayRead } from './ask-dgraph.ts';

export interface Provisioning {
  /** HTTP endpoints of our own data nodes: any of them will do. */
  readonly urls: readonly string[];
  /** PEM file of their certificate authority; without one, no TLS. */
  readonly caPath?: string | undefined;
  readonly secrets: Pick<SecretFiles, 'graphAclKey' | 'graphPassword' | 'graphAdminPassword'>;
  /** How long a data node may take until it accepts changes. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

const pauseMs = 50;
/** A node learns of new rights in a tenth of this. */
const hearsWithinMs = 2000;

/** Sets the administrator's password and creates the backend's user, in one transaction. Idempotent. */
export async function provisionGraph(provisioning: Provisioning): Promise<void> {
  const { urls, caPath, secrets, timeoutMs, signal } = provisioning;
  const deadline = performance.now() + timeoutMs;
  const ca = caPath === undefined ? undefined : readSecret(caPath);
  const nodes = urls.map((url): Dgraph => ({ url, ca, signal }));
  const admin = await accessToken(secrets.graphAclKey, { user: graphAdmin, groups: [graphAdminGroup] });
  const passwords = {
    ofUser: readSecret(secrets.graphPassword),
    ofAdmin: readSecret(secrets.graphAdminPassword),
  };
  const provision = (dgraph: Dgraph) =>
    askDgraph(dgraph, '/mutate?commitNow=true', provisioned(passwords), { access: admin });
  await insist(nodes, { deadline, signal }, async (dgraph) => {
    if (!(await isProvisioned(dgraph, admin, passwords))) await provision(dgraph);
  });
  const user = await accessToken(secrets.graphAclKey, { user: graphUser, groups: [graphGroup] });
  let toldAt = performance.now();
  await insist(nodes, { deadline, signal }, async (dgraph) => {
    // Each node keeps rights in memory and learns of new ones a moment later.
    if (await mayRead(dgraph, { access: user })) return;
    // A starting node subscribes to changes of rights after it has read them. A change in between is written again.
    if (performance.now() - toldAt > hearsWithinMs) await provision(dgraph).finally(() => (toldAt = performance.now()));
    throw new SvcError('timeout', `The rights of "${graphUser}" are not in force.`);
  });
}

interface Passwords {
  readonly ofUser: string;
  readonly ofAdmin: string;
}

const namesInQuery = { $admin: graphAdmin, $user: graphUser, $group: graphGroup } as const;
const askState = `query state($admin: string, $user: string, $group: string, $adminPassword: string, $userPassword: string) {
  admin(func: eq(dgraph.xid, $admin)) @filter(type(dgraph.type.User)) { isRight: checkpwd(dgraph.password, $adminPassword) }
  user(func: eq(dgraph.xid, $user)) @filter(type(dgraph.type.User)) {
    isRight: checkpwd(dgraph.password, $userPassword)
    groups: dgraph.user.group { name: dgraph.xid }
  }
  group(func: eq(dgraph.xid, $group)) @filter(type(dgraph.type.Group)) {
    rules: dgraph.acl.rule { predicate: dgraph.rule.predicate permission: dgraph.rule.permission }
  }
}`;
const rule = z.object({ predicate: z.string(), permission: z.number() });
const state = z.object({
  admin: z.array(z.object({ isRight: z.boolean() })),
  user: z.array(z.object({ isRight: z.boolean(), groups: z.array(z.object({ name: z.string() })).default([]) })),
  group: z.array(z.object({ rules: z.array(rule).default([]) })),
});

/** Throws while the administrator is missing: Dgraph creates it a moment after its first start. */
async function isProvisioned(dgraph: Dgraph, access: string, { ofUser, ofAdmin }: Passwords): Promise<boolean> {
  const variables = { ...namesInQuery, $adminPassword: ofAdmin, $userPassword: ofUser };
  const found = state.parse(await askDgraph(dgraph, '/query', { query: askState, variables }, { access }));
  const [[admin], [user], [group]] = [found.admin, found.user, found.group];
  if (admin === undefined) throw new SvcError('unavailable', `Dgraph has not made its user "${graphAdmin}" yet.`);
  return (
    admin.isRight &&
    user?.isRight === true &&
    user.groups.some(({ name }) => name === graphGroup) &&
    group?.rules.some(({ predicate, permission }) => predicate === everything && permission === allRights) === true
  );
}

/** All predicates, future ones too, except those of users and passwords. */
const everything = 'dgraph.all';
/** Read 4, write 2, modify 1. */
const allRights = 7;

const findThem = `{
  admins as var(func: eq(dgraph.xid, "${graphAdminGroup}")) @filter(type(dgraph.type.Group))
  admin as var(func: eq(dgraph.xid, "${graphAdmin}")) @filter(type(dgraph.type.User))
  user as var(func: eq(dgraph.xid, "${graphUser}")) @filter(type(dgraph.type.User))
  group as var(func: eq(dgraph.xid, "${graphGroup}")) @filter(type(dgraph.type.Group)) {
    rule as dgraph.acl.rule @filter(eq(dgraph.rule.predicate, "${everything}"))
  }
}`;

/**
 * `uid()` of an empty variable creates a node. Everything is written, even what exists: a restarted data node may fall back to the rights
 * of the moment at which one of these nodes was last written.
 */
export function provisioned({ ofUser, ofAdmin }: Passwords): unknown {
  const all = {
    uid: 'uid(rule)',
    'dgraph.type': 'dgraph.type.Rule',
    'dgraph.rule.predicate': everything,
    'dgraph.rule.permission': allRights,
  };
  const group = { ...groupNode('group', graphGroup), 'dgraph.acl.rule': [all] };
  const user = userNode('user', { name: graphUser, password: ofUser, group: 'uid(group)' });
  const admin = userNode('admin', { name: graphAdmin, password: ofAdmin, group: 'uid(admins)' });
  return { query: findThem, set: [group, user, groupNode('admins', graphAdminGroup), admin] };
}

function groupNode(found: string, name: string) {
  return { uid: `uid(${found})`, 'dgraph.type': 'dgraph.type.Group', 'dgraph.xid': name };
}

function userNode(found: string, { name, password, group }: Readonly<Record<'name' | 'password' | 'group', string>>) {
  return {
    uid: `uid(${found})`,
    'dgraph.type': 'dgraph.type.User',
    'dgraph.xid': name,
    'dgraph.password': password,
    'dgraph.user.group': [{ uid: group }],
  };
}

/** Retries with each node in turn until the deadline: a node that has just started refuses or loses requests. */
async function insist(
  nodes: readonly Dgraph[],
  { deadline, signal }: { readonly deadline: number; readonly signal: AbortSignal },
  work: (node: Dgraph) => Promise<void>,
): Promise<void> {
  for (let turn = 0; ; turn++) {
    const node = nodes[turn % nodes.length];
    if (node === undefined) throw new Error('the plan has no data node to provision');
    try {
      return await work(node);
    } catch (error) {
      if (signal.aborted || performance.now() >= deadline) throw error;
    }
    await pause(pauseMs, undefined, { signal });
  }
}
