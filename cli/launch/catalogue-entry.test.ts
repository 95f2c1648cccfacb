import { expect, test } from 'vitest';
import { catalogueEntry, catalogueNames, filledBlanks, launchFromEntry } from './catalogue-entry.ts';

const script = { interactive: false };
const none = { filled: new Map(), given: [], required: [] };

test.each(catalogueNames)('%s becomes a launch once its blanks are filled in', async (name) => {
  const entry = catalogueEntry(name);
  const filled = filledBlanks(
    entry,
    entry.blanks.map((blank) => `${blank.name}=/a=b`),
  );
  const launch = await launchFromEntry(entry, { ...none, filled }, script);
  expect(launch.settings).toMatchObject(entry.settings.map(({ title }) => ({ title })));
  expect(JSON.stringify(launch.args ?? [])).not.toContain('{');
  if (entry.blanks.length > 0) expect(launch.args?.at(-1)).toBe('/a=b');
});

test('a value and a requirement join the settings of the entry', async () => {
  const given = [
    { name: 'MEMORY_FILE_PATH', value: '/tmp/x.json', secret: false },
    { name: 'LOG', value: '1', secret: false },
  ];
  const required = ['LOG', 'MEMORY_FILE_PATH'];
  const launch = await launchFromEntry(catalogueEntry('memory'), { ...none, given, required }, script);
  expect(launch.env).toEqual(given);
  expect(launch.settings).toEqual([
    expect.objectContaining({ name: 'MEMORY_FILE_PATH', title: 'File', secret: false, required: true }),
    { name: 'LOG', secret: false, required: true },
  ]);
});
