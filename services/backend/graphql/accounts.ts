import { Secret } from '../../contracts/secret.ts';
import { sendAddressLink } from '../accounts/change-address.ts';
import { changeName } from '../accounts/change-name.ts';
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
    changeName: t.field({
      type: 'Viewer',
      description: "The caller's own name, as others see it.",
      args: { name: t.arg.string({ required: true }) },
      resolve: async (_root, { name }, { backend, principal }) => {
        await changeName(backend, principal, name);
        return await viewerOf(backend, principal);
      },
    }),
    sendAddressLink: t.boolean({
      description:
        'Sends a link to a new address of the caller, who confirms it with the link. It needs a sign-in within 15 minutes.',
      args: { email: t.arg.string({ required: true }) },
      resolve: async (_root, { email }, { backend, principal }) => {
        await sendAddressLink(backend, principal, email);
        return true;
      },
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
