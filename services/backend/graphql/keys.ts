import { parseId } from '../../contracts/ids.ts';
import { keyDisclosures } from '../../contracts/key-disclosure.ts';
import { pageMax } from '../graph/graph.ts';
import { matchesSearch } from '../graph/search-words.ts';
import { createKey } from '../keys/create-key.ts';
import { identifyKey } from '../keys/identify-key.ts';
import { importKey } from '../keys/import-key.ts';
import { disclosureOf, rolesPerKeyMax } from '../keys/key-fields.ts';
import { keyStates, stateOfKey } from '../keys/key-state.ts';
import { revokeKey } from '../keys/revoke-key.ts';
import { replacedKey, rotateKey } from '../keys/rotate-key.ts';
import { updateKey } from '../keys/update-key.ts';
import type { Builder, GraphqlContext } from './builder.ts';
import { listArgs, listOf, pageOf, parseSearch, searchArgs } from './paging.ts';

export function addKeys(builder: Builder): void {
  const stateType = builder.enumType('KeyState', { values: keyStates });
  const disclosureType = keyDisclosureType(builder);
  builder.objectType('Key', {
    fields: (t) => ({
      id: t.exposeID('id'),
      name: t.exposeString('name'),
      hint: t.exposeString('hint'),
      version: t.exposeInt('version'),
      state: t.field({ type: stateType, resolve: (key) => stateOfKey(key, Date.now()) }),
      expiresAt: t.exposeFloat('expiresAt', { nullable: true }),
      revokedAt: t.exposeFloat('revokedAt', { nullable: true }),
      firstUsedAt: t.exposeFloat('firstUsedAt', { nullable: true }),
      lastUsedAt: t.exposeFloat('lastUsedAt', { nullable: true }),
      lastUsedStepMs: t.float({
        description: 'The shortest time between two writes of lastUsedAt: the last use may be later by this much.',
        resolve: lastUsedStepMs,
      }),
      createdAt: t.exposeFloat('createdAt'),
      client: t.exposeString('client', {
        nullable: true,
        description: 'The OAuth client of a connected agent. null: a key with a text.',
      }),
      disclosure: t.field({ type: disclosureType, resolve: disclosureOf }),
      replaces: t.field({
        type: 'ReplacedKey',
        nullable: true,
        description: 'The key that this one replaces, while that one is still valid.',
        resolve: (key, _args, { backend }) => replacedKey(backend.graph, key, Date.now()),
      }),
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

  builder.objectType('ReplacedKey', {
    description: 'The older of two valid keys. It has no name, so that it is named by its id only.',
    fields: (t) => ({
      id: t.exposeID('id'),
      hint: t.exposeString('hint'),
      expiresAt: t.exposeFloat('expiresAt', { nullable: true }),
      lastUsedAt: t.exposeFloat('lastUsedAt', { nullable: true }),
      lastUsedStepMs: t.float({ resolve: lastUsedStepMs }),
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

  builder.objectField('Workspace', 'ownKeys', (t) =>
    t.field({
      type: ['Key'],
      description: 'The keys of the caller that are not revoked. Operators have none.',
      args: { ...listArgs(builder), search: t.arg.string() },
      resolve: async ({ id: workspace }, { first, search }, { access, load, principal }) => {
        await access(workspace, 'read');
        if (principal.kind === 'operator') return [];
        const sought = parseSearch(search ?? '');
        const keys = await load.keysOfUser({ id: principal.user, workspace }, pageMax);
        const found = keys.filter(({ revokedAt, name }) => revokedAt === null && matchesSearch([name], sought));
        return found.slice(0, listOf(first));
      },
    }),
  );

  builder.objectType('IdentifiedKey', {
    fields: (t) => ({
      key: t.expose('key', { type: 'Key' }),
      workspace: t.expose('workspace', { type: 'Workspace' }),
    }),
  });
  builder.queryField('identifyKey', (t) =>
    t.field({
      type: 'IdentifiedKey',
      nullable: true,
      description: 'The key with this text, in any workspace. For operators.',
      args: { secret: t.arg.string({ required: true }) },
      resolve: (_root, { secret }, { backend, principal }) => identifyKey(backend, principal, secret),
    }),
  );

  addMutations(builder, disclosureType);
}

function addMutations(builder: Builder, disclosureType: DisclosureType): void {
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
      disclosure: t.field({ type: disclosureType }),
      expiresAt: t.float(),
    }),
  });
  const patch = builder.inputType('KeyPatch', {
    fields: (t) => ({
      name: t.string(),
      roles: t.idList(),
      allRoles: t.boolean({ description: 'true: every role of the workspace, instead of roles.' }),
      disclosure: t.field({ type: disclosureType }),
      expiresAt: t.float(),
      neverExpires: t.boolean({ description: 'true: no expiry, instead of expiresAt.' }),
      ifVersion: t.int(),
    }),
  });
  builder.mutationFields((t) => ({
    createKey: t.field({
      type: 'CreatedKey',
      description: 'A key of the caller. The key itself is only in this answer and can never be read again.',
      args: { workspace: t.arg.id({ required: true }), input: t.arg({ type: input, required: true }) },
      resolve: (_root, args, { backend, principal }) =>
        createKey(backend, { principal, workspace: parseId('workspace', args.workspace) }, args.input),
    }),
    importKey: t.field({
      type: 'Key',
      description: 'Adds a key of an older installation. For operators.',
      args: {
        workspace: t.arg.id({ required: true }),
        input: t.arg({ type: input, required: true }),
        secret: t.arg.string({ required: true }),
      },
      resolve: (_root, { workspace, input, secret }, { backend, principal }) =>
        importKey(backend, { principal, workspace: parseId('workspace', workspace) }, { input, text: secret }),
    }),
    updateKey: t.field({
      type: 'Key',
      args: {
        workspace: t.arg.id({ required: true }),
        id: t.arg.id({ required: true }),
        input: t.arg({ type: patch, required: true }),
      },
      resolve: (_root, { workspace, id, input }, { backend, principal }) =>
        updateKey(backend, { principal, workspace: parseId('workspace', workspace), id }, input),
    }),
    rotateKey: t.field({
      type: 'CreatedKey',
      description: 'Makes a key in place of this one, which stays valid without its name until it is revoked.',
      args: {
        workspace: t.arg.id({ required: true }),
        id: t.arg.id({ required: true }),
        expiresAt: t.arg.float({ description: 'Absent: the lifetime of the replaced key, from now on.' }),
      },
      resolve: (_root, { workspace, id, expiresAt }, { backend, principal }) =>
        rotateKey(backend, { principal, workspace: parseId('workspace', workspace), id }, { expiresAt }),
    }),
    revokeKey: t.field({
      type: 'Key',
      description: 'By id, or by the name of a key that is not revoked.',
      args: {
        workspace: t.arg.id({ required: true }),
        key: t.arg.string({ required: true }),
        ifVersion: t.arg.int(),
      },
      resolve: (_root, { workspace, key, ifVersion }, { backend, principal }) =>
        revokeKey(backend, { principal, workspace: parseId('workspace', workspace), ifVersion }, key),
    }),
  }));
}

type DisclosureType = ReturnType<typeof keyDisclosureType>;

function keyDisclosureType(builder: Builder) {
  return builder.enumType('KeyDisclosure', {
    description: 'What a list of tools holds from the start: the tools of loaded skills, or those of all skills.',
    values: keyDisclosures,
  });
}

function lastUsedStepMs(_key: unknown, _args: unknown, { backend }: GraphqlContext): number {
  return backend.config.IDENTITY_KEY_USAGE_THROTTLE_SECONDS * 1000;
}
