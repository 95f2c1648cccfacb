import { expect, test } from 'vitest';
import { variables } from '../../services/contracts/env/variables.ts';
import { checkDefinition } from './check.ts';
import { rowsOf } from './setting.ts';
import { settings } from './settings.ts';
import { writeSettings } from './write.ts';

const id = 'abcdef0123456789';
const text = writeSettings(settings, { id });

test('each setting has a meaning for it or its group', () => {
  const untold = rowsOf(settings).filter(({ meaning }) => meaning === '' || meaning === settings.meaning);
  expect(untold).toEqual([]);
});

test('svc.yaml as written is valid, and equals the defaults', () => {
  const written = checkDefinition(text, 'svc.yaml');
  expect(checkDefinition(`id: ${id}\n`, 'svc.yaml')).toEqual(written);
  expect(written).toMatchObject({ name: 'svc', topology: 'embedded', ports: { backend: 'auto' } });
});

test('svc.yaml takes choices without losing a comment', () => {
  const choices = { owner: { email: 'a@example.com' }, ports: { backend: 4000 } };
  const chosen = writeSettings(settings, { id, ...choices });
  expect(checkDefinition(chosen, 'svc.yaml')).toMatchObject(choices);
  const comments = (yaml: string) => yaml.split('\n').filter((line) => line.trim().startsWith('#'));
  expect(comments(chosen)).toEqual(comments(text));
  for (const lines of [
    '\n\n# The owner of the workspace Default, which the first `svc up` creates.\nowner:\n  email: a@example.com\n\n',
    '\nports:\n  backend: 4000 # 3000\n',
    '\n    # Your e-mail address for messages of the authority.\n    email: null\n',
  ]) {
    expect(chosen).toContain(lines);
  }
});

test('svc.yaml has short lines, except examples', () => {
  const long = text.split('\n').filter((line) => line.length > 150 && !line.trim().startsWith('#   '));
  expect(long).toEqual([]);
});

test('a setting decides no variable that its service does not know', () => {
  const unknown = rowsOf(settings).flatMap(({ setting: { variables: decided = {} } }) =>
    Object.entries(decided).flatMap(([service, names]) =>
      names.filter((name) => !Object.hasOwn(variables[service as keyof typeof variables], name)),
    ),
  );
  expect(unknown).toEqual([]);
});
