import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { svcFile } from './run-svc.ts';

/** People change their mind about everything they made, so each kind of object has these commands. */
const verbs = ['create', 'list', 'show', 'update', 'remove'] as const;
type Verb = (typeof verbs)[number];

/** Another word for a verb, or the reason why there is no such command. */
const kinds: Readonly<Record<string, Partial<Record<Verb, string>>>> = {
  server: { create: 'add' },
  skill: {},
  role: {},
  file: {
    create: 'add',
    show: 'A file has only its path and size, which the list shows.',
    update: 'svc file add replaces it.',
  },
  keys: { remove: 'revoke' },
  runtime: {
    create: 'register',
    show: 'The list shows all of a runtime.',
    update: 'Registering it again gives it a new key.',
    remove: 'revoke',
  },
  workspace: { show: 'The list shows all of a workspace.' },
  user: { show: 'The list shows all of a person.' },
};
/** Verbs that make an object which stays. */
const making = ['create', 'add', 'register'];

const manifest: { commands: Record<string, unknown> } = JSON.parse(
  readFileSync(join(svcFile, '../../oclif.manifest.json'), 'utf8'),
);
const commands = new Set(Object.keys(manifest.commands));

test.each(Object.entries(kinds))(
  '%s: everything that is made is listed, shown, changed and removed',
  (kind, others) => {
    const missing = verbs.filter((verb) => {
      const other = others[verb] ?? verb;
      return !other.includes(' ') && !commands.has(`${kind}:${other}`);
    });
    expect(missing).toEqual([]);
  },
);

test('every topic with a command that makes something is a kind', () => {
  const topics = [...commands].flatMap((id) => {
    const [topic = '', verb = ''] = id.split(':');
    return making.includes(verb) ? [topic] : [];
  });
  expect([...new Set(topics)].filter((topic) => !(topic in kinds))).toEqual([]);
});
