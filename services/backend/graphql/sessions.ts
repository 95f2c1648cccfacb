import { endAllOtherSessions, endOwnSession } from '../accounts/end-sessions.ts';
import { viewerOf } from '../accounts/viewer.ts';
import type { Builder } from './builder.ts';

export function addSessions(builder: Builder): void {
  builder.objectType('BrowserSession', {
    description: 'A browser in which the caller is signed in.',
    fields: (t) => ({
      id: t.exposeID('id'),
      device: t.exposeString('device', { description: 'Such as "Firefox on Linux".' }),
      provenBy: t.exposeString('provenBy', { description: 'link, password, passkey or provider' }),
      provenAt: t.exposeFloat('provenAt'),
      lastUsedAt: t.exposeFloat('refreshedAt', { description: 'The browser may have used it up to 15 minutes later.' }),
      createdAt: t.exposeFloat('createdAt'),
      isCurrent: t.boolean({
        resolve: ({ id }, _args, { principal }) => principal.kind === 'user' && principal.session === id,
      }),
    }),
  });
  builder.mutationFields((t) => ({
    endSession: t.boolean({
      description: 'Signs the caller out in one browser.',
      args: { id: t.arg.id({ required: true }) },
      resolve: async (_root, args, { backend, principal }) => {
        await endOwnSession(backend, principal, args);
        return true;
      },
    }),
    endOtherSessions: t.field({
      type: 'Viewer',
      description: 'Signs the caller out everywhere else.',
      resolve: async (_root, _args, { backend, principal }) => {
        await endAllOtherSessions(backend, principal);
        return await viewerOf(backend, principal);
      },
    }),
  }));
}
