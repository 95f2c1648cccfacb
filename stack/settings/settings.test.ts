import { expect, test } from 'vitest';
import { variables } from '../../services/contracts/env/variables.ts';
import { checkDefinition, readSettings } from './check.ts';
import { wholeNumber } from './rules.ts';
import { group, rowsOf, setting, settingOf, variablesOf } from './setting.ts';
import { settings } from './settings.ts';
import { writeSettings } from './write.ts';
import { YamlText } from './yaml-text.ts';

const id = 'abcdef0123456789';
const text = writeSettings(settings, { id });

test('a new setting is one row: its line in svc.yaml, its check, its variable and the place of that variable', () => {
  const calls = setting(wholeNumber(1, 9), {
    meaning: 'How many open calls one key may have.',
    default: 4,
    note: 'a few',
    variables: { 'remote-mcp': ['SVC_CALLS_MAX'] },
    write: String,
  });
  const all = group('Everything.', { limits: group('What agents may do.', { calls }) });
  expect(writeSettings(all, { limits: { calls: 7 } })).toBe(
    `# Everything.

# What agents may do.
limits:
  # How many open calls one key may have.
  calls: 7 # a few
`,
  );
  const read = (yaml: string) => {
    const file = new YamlText(yaml);
    return { value: readSettings(all, file.value, file), mistakes: file.mistakes };
  };
  expect(read('limits: { calls: 2 }').value).toEqual({ limits: { calls: 2 } });
  expect(read('{}').value).toEqual({ limits: { calls: 4 } });
  expect(read('limits: { calls: many }').mistakes).toEqual([
    { line: 1, column: 18, message: 'limits.calls must be a whole number from 1 to 9, not "many".' },
  ]);
  expect(read('limits: { cals: 2 }').mistakes[0]?.message).toBe('"limits.cals" is not a field. Did you mean "calls"?');
  expect(variablesOf(all, 'remote-mcp', { limits: { calls: 2 } })).toEqual({ SVC_CALLS_MAX: '2' });
  expect(variablesOf(all, 'backend', { limits: { calls: 2 } })).toEqual({});
  expect(settingOf(all, 'remote-mcp', 'SVC_CALLS_MAX')).toBe('limits.calls');
});

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
