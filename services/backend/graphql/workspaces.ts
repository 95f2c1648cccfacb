import { SvcError } from '../../contracts/errors.ts';
import { findId, parseId } from '../../contracts/ids.ts';
import type { Node } from '../graph/graph.ts';
import { findOwner } from '../members/owner.ts';
import { createWorkspace } from '../workspaces/create-workspace.ts';
import { findWorkspaceId, selectWorkspaces } from '../workspaces/find-workspaces.ts';
import { removeWorkspace } from '../workspaces/remove-workspace.ts';
import { updateWorkspace } from '../workspaces/update-workspace.ts';
import type { Builder, GraphqlContext } from './builder.ts';
import { pageOf, searchArgs } from './paging.ts';

export function addWorkspaces(builder: Builder): void {
  builder.objectType('Workspace', {
    fields: (t) => ({
      id: t.exposeID('id'),
      name: t.exposeString('name'),
      suspended: t.exposeBoolean('suspended'),
      revision: t.exposeInt('revision', { description: 'Raised by every change of configuration.' }),
      statusRevision: t.exposeInt('statusRevision'),
      createdAt: t.exposeFloat('createdAt'),
      owner: t.field({
        type: 'Person',
        nullable: true,
        resolve: async (workspace, _args, context) => {
          await context.access(workspace.id, 'read');
          const owner = await findOwner(context.backend.graph, workspace.id);
          return owner === null ? null : await context.load.personOfMember(owner);
        },
      }),
    }),
  });

  builder.objectType('Person', {
    fields: (t) => ({
      id: t.exposeID('id'),
      email: t.exposeString('email'),
      name: t.exposeString('name'),
      hasSignedIn: t.boolean({ resolve: ({ signedInAt }) => signedInAt !== null }),
    }),
  });

  builder.objectType('WorkspacePage', {
    fields: (t) => ({
      nodes: t.expose('nodes', { type: ['Workspace'] }),
      pageInfo: t.field({ type: 'PageInfo', resolve: (page) => page }),
    }),
  });

  builder.queryFields((t) => ({
    workspaces: t.field({
      type: 'WorkspacePage',
      args: searchArgs(builder),
      resolve: (_root, args, { backend, principal }) => selectWorkspaces(backend, principal, pageOf(args)),
    }),
    workspace: t.field({
      type: 'Workspace',
      nullable: true,
      description: 'By id or by name.',
      args: { id: t.arg.id(), name: t.arg.string() },
      resolve: (_root, args, context) => findWorkspace(context, args),
    }),
  }));

  addMutations(builder);
}

function addMutations(builder: Builder): void {
  const createInput = builder.inputType('CreateWorkspaceInput', {
    fields: (t) => ({
      name: t.string({ required: true }),
      ownerEmail: t.string({ description: 'For operators. A person owns what the person creates.' }),
    }),
  });
  const updateInput = builder.inputType('UpdateWorkspaceInput', {
    fields: (t) => ({
      name: t.string(),
      suspended: t.boolean(),
      ifName: t.string({ description: 'The present name; absent: any.' }),
      ifSuspended: t.boolean({ description: 'Whether it is suspended now; absent: either.' }),
    }),
  });
  builder.mutationFields((t) => ({
    createWorkspace: t.field({
      type: 'Workspace',
      args: { input: t.arg({ type: createInput, required: true }) },
      resolve: (_root, { input }, { backend, principal }) => createWorkspace(backend, principal, input),
    }),
    updateWorkspace: t.field({
      type: 'Workspace',
      args: { id: t.arg.id({ required: true }), input: t.arg({ type: updateInput, required: true }) },
      resolve: (_root, { id, input }, { backend, principal }) =>
        updateWorkspace(backend, principal, parseId('workspace', id), input),
    }),
    removeWorkspace: t.boolean({
      description:
        'Removes a workspace with everything in it. Operators only. It is closed at once; false: repeat the call, because data are left.',
      args: {
        id: t.arg.id({ required: true }),
        ifRevision: t.arg.int({ description: 'For the first call: the revision of the workspace; absent: any.' }),
      },
      resolve: (_root, { id, ifRevision }, { backend, principal }) =>
        removeWorkspace(backend, principal, parseId('workspace', id), ifRevision ?? null),
    }),
  }));
}

/** Null for a workspace that does not exist, and for one that the caller is not a member of. */
async function findWorkspace(context: GraphqlContext, named: IdOrName): Promise<Node<'workspace'> | null> {
  const id =
    named.id != null ? findId('workspace', named.id) : await findWorkspaceId(context.backend, requireName(named));
  if (id === null) return null;
  try {
    const { workspace } = await context.access(id, 'read');
    return workspace;
  } catch (error) {
    if (error instanceof SvcError && error.code === 'not_found') return null;
    throw error;
  }
}

export interface IdOrName {
  readonly id?: string | null | undefined;
  readonly name?: string | null | undefined;
}

/** Look-ups take an id or a name. */
export function requireName({ name }: IdOrName): string {
  if (name != null) return name;
  throw new SvcError('invalid_input', 'Give "id" or "name".');
}
