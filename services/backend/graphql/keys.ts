import { parseId } from '../../contracts/ids.ts';
import { createKey, rolesPerKeyMax } from '../keys/create-key.ts';
import { keyStates, stateOfKey } from '../keys/key-state.ts';
import { revokeKey } from '../keys/revoke-key.ts';
import type { Builder } from './builder.ts';
import { listArgs, listOf, pageOf, searchArgs } from './paging.ts';

export function addKeys(builder: Builder): void {
  const stateType = builder.enumType('KeyState', { values: keyStates });
  builder.objectType('Key', {
    fields: (t) => ({
      id: t.exposeID('id'),
      name: t.exposeString('name'),
      hint: t.exposeString('hint'),
      state: t.field({ type: stateType, resolve: (key) => stateOfKey(key, Date.now()) }),
      expiresAt: t.exposeFloat('expiresAt', { nullable: true }),
      revokedAt: t.exposeFloat('revokedAt', { nullable: true }),
      lastUsedAt: t.exposeFloat('lastUsedAt', { nullable: true }),
      createdAt: t.exposeFloat('createdAt'),
      roles: t.field({
        type: ['Role'],
        nullable: true,
        description: 'null means every role of the workspace.',
        args: listArgs(builder),
        resolve: async (key, args, { load }) =>
          key.allRoles ? null : (await load.rolesOfKey(key, rolesPerKeyMax)).slice(0, listOf(args.first)),
      }),
    }),
  });

  builder.objectType('KeyPage', {
    fields: (t) => ({
      nodes: t.expose('nodes', { type: ['Key'] }),
      pageInfo: t.field({ type: 'PageInfo', resolve: (page) => page }),
    }),
  });

  builder.objectField('Workspace', 'keys', (t) =>
    t.field({
      type: 'KeyPage',
      args: searchArgs(builder),
      resolve: async ({ id: anchor }, args, { backend, access }) => {
        await access(anchor, 'administer');
        return await backend.graph.select({ type: 'key', anchor, orderBy: 'name', ...pageOf(args) });
      },
    }),
  );

  addMutations(builder);
}

function addMutations(builder: Builder): void {
  builder.objectType('CreatedKey', {
    fields: (t) => ({
      key: t.expose('key', { type: 'Key' }),
      secret: t.string({ resolve: ({ secret }) => secret.reveal() }),
    }),
  });
  const input = builder.inputType('KeyInput', {
    fields: (t) => ({
      name: t.string({ required: true }),
      roles: t.idList(),
      expiresAt: t.float(),
    }),
  });
  builder.mutationFields((t) => ({
    createKey: t.field({
      type: 'CreatedKey',
      description: 'The key itself is only in this answer and can never be read again.',
      args: { workspace: t.arg.id({ required: true }), input: t.arg({ type: input, required: true }) },
      resolve: (_root, args, { backend, principal }) =>
        createKey(backend, { principal, workspace: parseId('workspace', args.workspace) }, args.input),
    }),
    revokeKey: t.field({
      type: 'Key',
      description: 'By id, or by the name of a key that is not revoked.',
      args: { workspace: t.arg.id({ required: true }), key: t.arg.string({ required: true }) },
      resolve: (_root, args, { backend, principal }) =>
        revokeKey(backend, { principal, workspace: parseId('workspace', args.workspace) }, args.key),
    }),
  }));
}
