import { SvcError } from '../../contracts/errors.ts';
import { parseId } from '../../contracts/ids.ts';
import type { Builder } from './builder.ts';

export function addChanges(builder: Builder): void {
  const kindType = builder.enumType('ChangeKind', {
    description:
      'Of the workspace: its configuration, the states of its MCP servers, its keys, its counted calls. Or of the own account.',
    values: ['catalogue', 'status', 'key', 'calls', 'account'],
  });
  builder.objectType('Change', {
    fields: (t) => ({
      kind: t.expose('kind', { type: kindType }),
      revision: t.exposeInt('revision', { nullable: true, description: 'Of the workspace; null for the account.' }),
      statusRevision: t.exposeInt('statusRevision', { nullable: true }),
    }),
  });
  builder.subscriptionField('changes', (t) =>
    t.field({
      type: 'Change',
      description:
        'Says that something changed, in this workspace or in the own account. The first one has the present versions of the workspace.',
      args: { workspace: t.arg.id() },
      subscribe: (_root, { workspace }, { backend, principal, operation }) => {
        if (principal.kind === 'operator') throw new SvcError('unsupported', 'Only people follow changes.');
        const id = workspace == null ? null : parseId('workspace', workspace);
        return backend.changes.follow(principal, id, operation.signal);
      },
      resolve: (change) => change,
    }),
  );
}
