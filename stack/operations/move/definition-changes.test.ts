import { expect, test } from 'vitest';
import { checkDefinition } from '../../settings/check.ts';
import { settings } from '../../settings/settings.ts';
import { writeSettings } from '../../settings/write.ts';
import { replaceScalar } from '../../settings/yaml-text.ts';
import type { Side } from '../replace/side.ts';
import { applyChanges, changesFor } from './definition-changes.ts';

const embedded = writeSettings(settings, { id: 'abcdefgh12345678' });
const distributed: Side = { topology: 'distributed', graph: 'sqlite', engine: 'process' };
const oneProcess: Side = { topology: 'embedded', graph: 'sqlite', engine: 'process' };
const onDgraph: Side = { topology: 'distributed', graph: 'dgraph', engine: 'process' };
const read = (text: string) => checkDefinition(text, 'svc.yaml');

/** Lines that one text has and the other has not. */
function differing(before: string, after: string): readonly string[] {
  const [old, fresh] = [before.split('\n'), after.split('\n')];
  return [
    ...old.filter((line) => !fresh.includes(line)).map((line) => `- ${line}`),
    ...fresh.filter((line) => !old.includes(line)).map((line) => `+ ${line}`),
  ];
}

test('a move to several processes changes one word, and the way back restores the text', () => {
  const there = applyChanges(embedded, changesFor(read(embedded), distributed));
  expect(differing(embedded, there)).toEqual(['- topology: embedded', '+ topology: distributed']);
  expect(applyChanges(there, changesFor(read(there), oneProcess))).toBe(embedded);
});

test('a move to one process resets replicas and an external bus, and leaves public addresses to the operator', () => {
  const many = ['remote-mcp', 'runtime'].reduce(
    (text, service) => replaceScalar(text, ['replicas', service], '3'),
    replaceScalar(embedded, ['topology'], 'distributed'),
  );
  const elsewhere = replaceScalar(many, ['bus', 'servers'], '[nats://bus.example.com:4222]');
  const changes = changesFor(read(elsewhere), oneProcess);
  expect(changes.map(({ path, from, to }) => `${path.join('.')}: ${from} → ${to}`)).toEqual([
    'topology: distributed → embedded',
    'replicas.remote-mcp: 3 → 1',
    'replicas.runtime: 3 → 1',
    'bus.servers: nats://bus.example.com:4222 → auto',
  ]);
  expect(read(applyChanges(elsewhere, changes))).toEqual(read(embedded));
  const open = replaceScalar(many, ['public', 'host'], 'agents.example.com');
  const one = applyChanges(open, changesFor(read(open), oneProcess));
  expect(() => read(one)).toThrow('public.host needs topology: distributed.');
});

test('a file without a topology gets one', () => {
  const short = 'id: abcdefgh12345678\n# the shortest that there is';
  const there = applyChanges(short, changesFor(read(short), distributed));
  expect(there).toBe(`${short}\ntopology: distributed\n`);
  expect(read(there).topology).toBe('distributed');
});

test('a move to the other graph changes one more word, and the way back restores the text', () => {
  const there = applyChanges(embedded, changesFor(read(embedded), onDgraph));
  expect(differing(embedded, there)).toEqual([
    '- topology: embedded',
    '- graph: sqlite',
    '+ topology: distributed',
    '+ graph: dgraph',
  ]);
  const onFile = applyChanges(there, changesFor(read(there), distributed));
  expect(differing(there, onFile)).toEqual(['- graph: dgraph', '+ graph: sqlite']);
  expect(applyChanges(there, changesFor(read(there), oneProcess))).toBe(embedded);
});
