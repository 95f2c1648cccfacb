import { addPasskey, beginPasskey } from '../accounts/add-passkey.ts';
import { removePasskey, renamePasskey } from '../accounts/passkeys.ts';
import { viewerOf } from '../accounts/viewer.ts';
import type { Builder } from './builder.ts';

export function addPasskeys(builder: Builder): void {
  builder.objectType('Passkey', {
    description: 'A passkey (WebAuthn) of the caller.',
    fields: (t) => ({
      id: t.exposeID('id'),
      name: t.exposeString('name'),
      lastUsedAt: t.exposeFloat('lastUsedAt', { nullable: true }),
      createdAt: t.exposeFloat('createdAt'),
    }),
  });
  builder.objectType('BegunPasskey', {
    fields: (t) => ({
      options: t.exposeString('options', { description: 'PublicKeyCredentialCreationOptionsJSON, for the browser.' }),
      ticket: t.exposeString('ticket', { description: 'For addPasskey, in this session, within five minutes.' }),
    }),
  });
  builder.mutationFields((t) => ({
    beginPasskey: t.field({
      type: 'BegunPasskey',
      description: 'Begins a new passkey of the caller. It needs a sign-in within 15 minutes.',
      resolve: (_root, _args, { backend, principal }) => beginPasskey(backend, principal),
    }),
    addPasskey: t.field({
      type: 'Passkey',
      args: {
        ticket: t.arg.string({ required: true }),
        response: t.arg.string({ required: true, description: 'RegistrationResponseJSON of the browser.' }),
        name: t.arg.string({ required: true }),
      },
      resolve: (_root, args, { backend, principal }) => addPasskey(backend, principal, args),
    }),
    renamePasskey: t.field({
      type: 'Passkey',
      args: { id: t.arg.id({ required: true }), name: t.arg.string({ required: true }) },
      resolve: (_root, args, { backend, principal }) => renamePasskey(backend, principal, args),
    }),
    removePasskey: t.field({
      type: 'Viewer',
      description: 'It needs a sign-in within 15 minutes. Without any way to sign in, only a link signs the caller in.',
      args: { id: t.arg.id({ required: true }) },
      resolve: async (_root, args, { backend, principal }) => {
        await removePasskey(backend, principal, args);
        return await viewerOf(backend, principal);
      },
    }),
  }));
}
