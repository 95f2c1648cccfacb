import { describe, expect, test } from 'vitest';
import { variables } from '../../services/contracts/env/variables.ts';
import { checkDefinition, readSettings } from './check.ts';
import { wholeNumber } from './rules.ts';
import { group, rowsOf, setting, settingOf, variablesOf } from './setting.ts';
import { settings } from './settings.ts';
import { writeSettings } from './write.ts';
import { YamlText } from './yaml-text.ts';

const id = 'abcdef0123456789';

describe('a setting is one row', () => {
  const row = setting(wholeNumber(1, 9), {
    meaning: 'How many open calls one key may have.',
    default: 4,
    note: 'a few',
    variables: { 'remote-mcp': ['SVC_CALLS_MAX'] },
    write: String,
  });
  const all = group('Everything.', { limits: group('What agents may do.', { calls: row }) });

  function read(yaml: string) {
    const text = new YamlText(yaml);
    return { value: readSettings(all, text.value, text), mistakes: text.mistakes };
  }

  test('it produces the lines of svc.yaml', () => {
    expect(writeSettings(all, { limits: { calls: 7 } })).toBe(
      `# Everything.

# What agents may do.
limits:
  # How many open calls one key may have.
  calls: 7 # a few
`,
    );
  });

  test('it produces the value, the default, and the refusal with its place', () => {
    expect(read('limits: { calls: 2 }').value).toEqual({ limits: { calls: 2 } });
    expect(read('{}').value).toEqual({ limits: { calls: 4 } });
    expect(read('limits: { calls: many }').mistakes).toEqual([
      { line: 1, column: 18, message: 'limits.calls must be a whole number from 1 to 9, not "many".' },
    ]);
    expect(read('limits: { cals: 2 }').mistakes[0]?.message).toBe(
      '"limits.cals" is not a field. Did you mean "calls"?',
    );
  });

  test('it decides the variable of the service, and is its only place', () => {
    expect(variablesOf(all, 'remote-mcp', { limits: { calls: 2 } })).toEqual({ SVC_CALLS_MAX: '2' });
    expect(variablesOf(all, 'backend', { limits: { calls: 2 } })).toEqual({});
    expect(settingOf(all, 'remote-mcp', 'SVC_CALLS_MAX')).toBe('limits.calls');
  });
});

describe('svc.yaml', () => {
  const text = writeSettings(settings, { id });

  test('has each setting, with a meaning for it or its group', () => {
    for (const { path, setting: row } of rowsOf(settings)) {
      const groups = path.map((_, depth) => settingsAt(path.slice(0, depth)));
      const isTold = [row, ...groups.slice(1)].some((part) => part.meaning !== undefined);
      expect(isTold, path.join('.')).toBe(true);
    }
  });

  test('is valid, and equals the defaults', () => {
    const written = checkDefinition(text, 'svc.yaml');
    expect(checkDefinition(`id: ${id}\n`, 'svc.yaml')).toEqual(written);
    expect(written).toMatchObject({ name: 'svc', topology: 'embedded', ports: { backend: 'auto' } });
  });

  test('takes choices without losing a comment', () => {
    const chosen = writeSettings(settings, { id, owner: { email: 'a@example.com' }, ports: { backend: 4000 } });
    expect(checkDefinition(chosen, 'svc.yaml')).toMatchObject({
      owner: { email: 'a@example.com' },
      ports: { backend: 4000 },
    });
    const comments = (yaml: string) => yaml.split('\n').filter((line) => line.trim().startsWith('#'));
    expect(comments(chosen)).toEqual(comments(text));
  });

  test('has short lines, except examples', () => {
    const long = text.split('\n').filter((line) => line.length > 150 && !line.trim().startsWith('#   '));
    expect(long).toEqual([]);
  });

  test('decides no variable that its service does not know', () => {
    const unknown = rowsOf(settings).flatMap(({ setting: { variables: decided = {} } }) =>
      Object.entries(decided).flatMap(([service, names]) =>
        names.filter((name) => !Object.hasOwn(variables[service as keyof typeof variables], name)),
      ),
    );
    expect(unknown).toEqual([]);
  });
});

/** The group at a path. */
function settingsAt(path: readonly string[]): { readonly meaning?: string } {
  return path.reduce<{ readonly meaning?: string; readonly parts?: Readonly<Record<string, object>> }>(
    (part, name) => part.parts?.[name] ?? {},
    settings,
  );
}
