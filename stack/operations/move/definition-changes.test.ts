import { expect, test } from 'vitest';
import { checkDefinition } from '../../settings/check.ts';
import { settings } from '../../settings/settings.ts';
import { writeSettings } from '../../settings/write.ts';
import { replaceScalar } from '../../settings/yaml-text.ts';
import type { Side } from '../replace/side.ts';
import { distributed, onDgraph, embedded as oneProcess } from '../test/sides.ts';
import { applyChanges, changesFor } from './definition-changes.ts';

const embedded = writeSettings(settings, { id: 'abcdefgh12345678' });
const read = (text: string) => checkDefinition(text, 'svc.yaml');

const apart = embedded.replace('topology: embedded', 'topology: distributed');

test.each<[string, Side, string]>([
  ['several processes', distributed, apart],
  ['the other graph', onDgraph, apart.replace('graph: sqlite', 'graph: dgraph')],
])('a move to %s changes a word for each choice, and the way back restores the text', (_what, side, expected) => {
  const there = applyChanges(embedded, changesFor(read(embedded), side));
  expect(there).toBe(expected);
  expect(applyChanges(there, changesFor(read(there), oneProcess))).toBe(embedded);
  expect(applyChanges(there, changesFor(read(there), distributed))).toBe(apart);
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
