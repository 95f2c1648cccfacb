import { summariseMail } from '../mail/mail-state.ts';
import { requireOperator } from '../members/access.ts';
import type { Builder } from './builder.ts';

export function addMail(builder: Builder): void {
  builder.objectType('Mail', {
    fields: (t) => ({
      waiting: t.exposeInt('waiting', { description: 'Mails that are still to be sent.' }),
      failed: t.exposeInt('failed', { description: 'Mails that were given up, within three days.' }),
      unsure: t.exposeInt('unsure', {
        description: 'Mails that may have been sent and are not repeated, within three days.',
      }),
      oldestAt: t.exposeFloat('oldestAt', { nullable: true, description: 'When the oldest waiting mail was queued.' }),
      lastError: t.exposeString('lastError', {
        nullable: true,
        description: 'Of the oldest waiting mail, or else of the last one that failed.',
      }),
    }),
  });

  builder.queryField('mail', (t) =>
    t.field({
      type: 'Mail',
      description: 'Outgoing mail. Operators only.',
      resolve: async (_root, _args, { backend, principal }) => {
        requireOperator(principal, 'see outgoing mail');
        return await summariseMail(backend);
      },
    }),
  );
}
