import { createSignInLink } from '../accounts/sign-in-links.ts';
import type { Builder } from './builder.ts';

export function addAccountFields(builder: Builder): void {
  builder.objectType('SignInLink', {
    fields: (t) => ({
      email: t.exposeString('email'),
      url: t.exposeString('url'),
      expiresAt: t.exposeFloat('expiresAt'),
    }),
  });
  builder.mutationField('createSignInLink', (t) =>
    t.field({
      type: 'SignInLink',
      description: 'A link that signs a known person in, once, within an hour. Operators only.',
      args: { email: t.arg.string({ required: true }) },
      resolve: (_root, { email }, { backend, principal }) => createSignInLink(backend, principal, email),
    }),
  );
}
