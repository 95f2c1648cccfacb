import { Secret } from '../../contracts/secret.ts';
import { setPassword } from '../accounts/set-password.ts';
import { createSignInLink } from '../accounts/sign-in-links.ts';
import { viewerOf } from '../accounts/viewer.ts';
import type { Builder } from './builder.ts';

export function addAccountFields(builder: Builder): void {
  builder.objectType('SignInLink', {
    fields: (t) => ({
      email: t.exposeString('email'),
      url: t.exposeString('url'),
      expiresAt: t.exposeFloat('expiresAt'),
    }),
  });
  builder.mutationFields((t) => ({
    createSignInLink: t.field({
      type: 'SignInLink',
      description: 'A link that signs a known person in, once, within an hour. Operators only.',
      args: { email: t.arg.string({ required: true }) },
      resolve: (_root, { email }, { backend, principal }) => createSignInLink(backend, principal, email),
    }),
    setPassword: t.field({
      type: 'Viewer',
      description:
        "Sets the caller's password, and ends the other sessions. It needs the current one, or a sign-in within 15 minutes.",
      args: { current: t.arg.string(), password: t.arg.string({ required: true }) },
      resolve: async (_root, { current, password }, { backend, principal }) => {
        const given = { current: current == null ? null : new Secret(current), password: new Secret(password) };
        await setPassword(backend, principal, given);
        return await viewerOf(backend, principal);
      },
    }),
  }));
}
