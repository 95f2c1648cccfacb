import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { updateKeyMutation } from '../../../stack/client/generated/operations.ts';
import { repeatedFlag, SvcCommand, workspaceFlag } from '../../command.ts';
import { disclosureFlag, parseDisclosure } from '../../keys/key-disclosure.ts';
import { refuseKeyAsArgument } from '../../keys-test/key-source.ts';
import { fieldsThatDiffer, requireChange, tellChanged } from '../../objects/changes.ts';
import { fetchKeys, type Key, keyNamed } from '../../objects/keys.ts';
import { tenancyOf } from '../../objects/platform.ts';
import { fetchRoles, roleNamed } from '../../objects/roles.ts';
import { parseMoment } from '../../typed/moment.ts';

export default class KeysUpdate extends SvcCommand {
  static override summary = 'Change an API key: name, roles, listed tools or expiry. Its text stays the same.';
  static override aliases = ['key:update'];
  static override examples = [
    { description: 'List all tools from the start', command: '<%= config.bin %> keys update laptop --disclosure all' },
    {
      description: 'Other roles, and an end',
      command: '<%= config.bin %> keys update laptop --role Reader --role Support --expires 90d',
    },
  ];
  static override args = { name: Args.string({ description: 'Name or id', required: true, name: 'NAME' }) };
  static override flags = {
    name: Flags.string({ summary: 'New name.', helpValue: 'NAME' }),
    role: repeatedFlag(
      'Role of the key, by name or id; those given replace the present ones. May be repeated.',
      'ROLE',
      ['all-roles'],
    ),
    'all-roles': Flags.boolean({ summary: 'Every role of the workspace, also later ones.' }),
    disclosure: disclosureFlag(),
    expires: Flags.string({ summary: 'When it expires: 30d, 12h, a date, or never.', helpValue: 'TIME' }),
    workspace: workspaceFlag('Workspace of the key.'),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(KeysUpdate);
    refuseKeyAsArgument([args.name, flags.name ?? '']);
    const terminal = this.terminal(flags);
    const { name, role, 'all-roles': allRoles, expires } = flags;
    const disclosure = parseDisclosure(flags.disclosure);
    requireChange({ name, role, 'all-roles': allRoles, disclosure, expires });
    const neverExpires = expires === 'never';
    const expiresAt = expires === undefined || neverExpires ? null : parseMoment('--expires', expires, 'future');
    const { backend, workspace } = await tenancyOf(flags);
    const before = keyNamed(await fetchKeys(backend, workspace.id), args.name);
    const known = role === undefined ? [] : await fetchRoles(backend, workspace.id);
    const roles = role?.map((one) => roleNamed(known, one)) ?? null;
    const fields = { name: name ?? null, disclosure: disclosure ?? null, allRoles, neverExpires, expiresAt };
    const { updateKey } = await backend.send(updateKeyMutation, {
      workspace: workspace.id,
      id: before.id,
      input: { ...fields, roles: roles?.map(({ id }) => id) ?? null, ifVersion: before.version },
    });
    const after = keyNamed(await fetchKeys(backend, workspace.id), updateKey.id);
    const changed = fieldsThatDiffer(fieldsOf(before), fieldsOf(after));
    tellChanged(terminal, { kind: 'key', id: after.id, name: after.name, changed });
  }
}

/** By the names of the flags. */
function fieldsOf({ name, roles, disclosure, expiresAt }: Key) {
  return { name, roles: roles?.map(({ id }) => id).sort() ?? 'all', disclosure, expires: expiresAt };
}
