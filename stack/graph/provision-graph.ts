import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { SvcError } from '../../services/contracts/errors.ts';
import { graphAdmin, graphAdminGroup, graphGroup, graphUser } from '../parts/graph-user.ts';
import { readSecret, type SecretFiles } from '../secrets/secrets.ts';
import { accessToken } from './access-token.ts';
import { askDgraph, type Dgraph } from './ask-dgraph.ts';

export interface Provisioning {
  /** HTTP endpoints of our own data nodes: any of them will do. */
  readonly urls: readonly string[];
  /** PEM file that vouches for them, where they speak TLS. */
  readonly caPath?: string | undefined;
  readonly secrets: Pick<SecretFiles, 'graphAclKey' | 'graphPassword' | 'graphAdminPassword'>;
  /** Writes the users even where none is missing: that proves a majority of the nodes. */
  readonly force?: boolean;
  /** How long a data node may take until it accepts changes. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

const pauseMs = 50;
/** A node that listens has heard of new rights in a tenth of it. */
const hearsWithinMs = 2000;

/**
 * Gives the administrator that Dgraph is born with a password of this installation, and the backend a user with rights on data and schema
 * only. One transaction makes all of it, where anything of it is missing; where nothing is, nothing is written.
 */
export async function provisionGraph(provisioning: Provisioning): Promise<void> {
  const { urls, caPath, secrets, force = false, timeoutMs, signal } = provisioning;
  const deadline = performance.now() + timeoutMs;
  const ca = caPath === undefined ? undefined : readSecret(caPath);
  const nodes = urls.map((url): Dgraph => ({ url, ca, signal }));
  const admin = accessToken(secrets.graphAclKey, { user: graphAdmin, groups: [graphAdminGroup] });
  const passwords = {
    ofUser: readSecret(secrets.graphPassword),
    ofAdmin: readSecret(secrets.graphAdminPassword),
  };
  const provision = (dgraph: Dgraph) =>
    askDgraph(dgraph, '/mutate?commitNow=true', provisioned(passwords), { access: admin });
  await insist(nodes, { deadline, signal }, async (dgraph) => {
    if (force || !(await isProvisioned(dgraph, admin, passwords))) await provision(dgraph);
  });
  const user = accessToken(secrets.graphAclKey, { user: graphUser, groups: [graphGroup] });
  let toldAt = performance.now();
  await insist(nodes, { deadline, signal }, async (dgraph) => {
    // Rights are remembered by the node, which hears of new ones a moment later; what nobody may see is left out of an answer.
    const { seen } = rights.parse(await askDgraph(dgraph, '/query', { query: askRights }, { access: user }));
    if (seen !== undefined) return;
    // A node that has just started listens a moment after it has read them. What it missed between is told again.
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

/** Throws where the administrator is not there yet: Dgraph makes him a moment after its first start. */
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

/** Of predicates that are still to be made too, and of none that hold users and their passwords. */
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
 * What was not found is made: `uid()` of nothing is a new node. All of it is written, what is there too: a data node that starts again may
 * go back to the rights of any moment at which a part of them was last written, and stay there.
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

const askRights = '{ seen(func: has(svc.nothing)) { uid } }';
const rights = z.object({ seen: z.array(z.unknown()).optional() });

/** Again and again, of each in turn, until it comes to an end: a node that was just started refuses and loses what it is asked for a while. */
async function insist(
  nodes: readonly Dgraph[],
  { deadline, signal }: { readonly deadline: number; readonly signal: AbortSignal },
  work: (node: Dgraph) => Promise<void>,
): Promise<void> {
  for (let turn = 0; ; turn++) {
    const node = nodes[turn % nodes.length];
    if (node === undefined) throw new Error('there is no data node to be provisioned');
    try {
      return await work(node);
    } catch (error) {
      if (signal.aborted || performance.now() >= deadline) throw error;
    }
    await pause(pauseMs, undefined, { signal });
  }
}
