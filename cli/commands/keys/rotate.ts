import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { revokeKeyMutation, rotateKeyMutation } from '../../../stack/client/generated/operations.ts';
import { SvcCommand, workspaceFlag, yesFlag } from '../../command.ts';
import { requireConsent } from '../../consent.ts';
import { judgeOldKey } from '../../keys/key-rotation.ts';
import { refuseKeyAsArgument } from '../../keys-test/key-source.ts';
import { fetchKeys, type Key, keyNamed, lastCalls } from '../../objects/keys.ts';
import { type Tenancy, tenancyOf } from '../../objects/platform.ts';
import type { Terminal } from '../../output/terminal.ts';
import { ago, isoOrNull } from '../../output/times-and-sizes.ts';
import { parseMoment } from '../../typed/moment.ts';

export default class KeysRotate extends SvcCommand {
  static override summary = 'Replace an API key: make a new one beside it, and end the old one with --finish.';
  static override aliases = ['key:rotate'];
  static override examples = [
    { description: 'Make the new key. The old one stays valid', command: '<%= config.bin %> keys rotate laptop' },
    {
      description: 'End the old key, once no agent uses it',
      command: '<%= config.bin %> keys rotate laptop --finish',
    },
  ];
  static override args = { name: Args.string({ description: 'Name or id', required: true, name: 'NAME' }) };
  static override flags = {
    finish: Flags.boolean({ summary: 'End the old key.', exclusive: ['expires'] }),
    yes: { ...yesFlag, summary: 'End the old key even if agents may still use it.', dependsOn: ['finish'] },
    expires: Flags.string({
      summary: 'When the new key expires: 30d, 12h or a date. Default: after the lifetime of the old one.',
      helpValue: 'TIME',
    }),
    workspace: workspaceFlag('Workspace of the key.'),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(KeysRotate);
    refuseKeyAsArgument([args.name]);
    const terminal = this.terminal(flags);
    const expiresAt = flags.expires === undefined ? null : parseMoment('--expires', flags.expires, 'future');
    const tenancy = await tenancyOf(flags);
    const keys = await fetchKeys(tenancy.backend, tenancy.workspace.id);
    const given = keyNamed(keys, args.name);
    if (flags.finish) await finish(tenancy, terminal, { keys, key: newerOf(keys, given), yes: flags.yes });
    else await rotate(tenancy, terminal, { old: given, expiresAt });
  }
}

interface Rotation {
  readonly old: Key;
  readonly expiresAt: number | null;
}

async function rotate({ backend, workspace }: Tenancy, terminal: Terminal, { old, expiresAt }: Rotation) {
  const answer = await backend.send(rotateKeyMutation, { workspace: workspace.id, id: old.id, expiresAt });
  const { key, secret } = answer.rotateKey;
  const { id, hint, lastUsedAt } = old;
  terminal.json({
    id: key.id,
    name: key.name,
    key: secret,
    prefix: 'SVA_',
    workspace,
    roles: key.roles ?? 'all',
    disclosure: key.disclosure,
    expiresAt: isoOrNull(key.expiresAt),
    replaces: { id, hint, lastUsedAt: isoOrNull(lastUsedAt), expiresAt: isoOrNull(old.expiresAt) },
  });
  terminal.result(secret);
  terminal.talk('This key is shown only once. Keep it in a safe place.');
  terminal.talk(`The old key ${hint} stays valid. It was last used: ${ago(lastUsedAt)}.`);
  terminal.talk(`Give the new key to every agent, then end the old one: svc keys rotate ${key.name} --finish`);
}

/** The newer key of a rotation, of which either was named. */
function newerOf(keys: readonly Key[], given: Key): Key {
  return keys.find(({ replaces, state }) => replaces?.id === given.id && state !== 'revoked') ?? given;
}

async function finish(
  { backend, workspace }: Tenancy,
  terminal: Terminal,
  { keys, key, yes }: { readonly keys: readonly Key[]; readonly key: Key; readonly yes: boolean },
): Promise<void> {
  const old = key.replaces;
  const replacedBy = { id: key.id, hint: key.hint };
  if (old === null) {
    terminal.json({ id: null, name: key.name, hint: null, state: null, lastUsedAt: null, replacedBy });
    terminal.result(`Nothing to end: the key ${key.name} replaces no other valid key.`);
    return;
  }
  const verdict = judgeOldKey({ key, old }, Date.now());
  if (!verdict.isSafe) {
    const calls = await lastCalls(backend, workspace.id, old);
    const called = calls.length === 0 ? '' : ` In the hour of its last use it called ${calls.join(', ')}.`;
    await agree(terminal, { name: key.name, hint: old.hint, why: verdict.why + called, yes });
  }
  const ifVersion = keys.find(({ id }) => id === old.id)?.version ?? null;
  const { revokeKey } = await backend.send(revokeKeyMutation, { workspace: workspace.id, key: old.id, ifVersion });
  const { id, name, hint } = revokeKey;
  terminal.json({ id, name, hint, state: 'revoked', lastUsedAt: isoOrNull(old.lastUsedAt), replacedBy });
  terminal.result(`Ended the old key ${old.hint} of ${key.name}.${verdict.isSafe ? ` ${verdict.why}` : ''}`);
}

interface OldKeyInUse {
  readonly name: string;
  readonly hint: string;
  readonly why: string;
  readonly yes: boolean;
}

async function agree(terminal: Terminal, { name, hint, why, yes }: OldKeyInUse): Promise<void> {
  if (yes || terminal.interactive) terminal.talk(why);
  if (yes) return;
  await requireConsent(terminal, {
    question: `End the old key ${hint} of ${name}? Agents that use it are refused at once.`,
    unasked: `The old key of "${name}" may still be in use, so ending it must be confirmed. ${why}`,
    declined: 'No key was ended.',
  });
}
