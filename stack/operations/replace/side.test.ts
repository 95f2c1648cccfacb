import { expect, test } from 'vitest';
import { distributed, embedded, inContainers, onDgraph } from '../test/sides.ts';
import { type Side, sideFor, type WantedSide } from './side.ts';

test.each<[WantedSide, Side, Side]>([
  [{ topology: 'distributed' }, embedded, distributed],
  [{ topology: 'distributed', graph: 'dgraph', engine: 'process' }, embedded, onDgraph],
  [{ graph: 'dgraph' }, distributed, onDgraph],
  [{ graph: 'sqlite' }, onDgraph, distributed],
  [{ topology: 'distributed' }, onDgraph, onDgraph],
  [{ topology: 'embedded' }, onDgraph, embedded],
  [{ topology: 'distributed', engine: 'docker' }, embedded, inContainers],
  [{ engine: 'docker' }, distributed, inContainers],
  [{ engine: 'process' }, inContainers, distributed],
  [{ graph: 'dgraph' }, inContainers, { ...onDgraph, engine: 'docker' }],
  [{ topology: 'distributed' }, inContainers, inContainers],
  [{ topology: 'embedded' }, inContainers, embedded],
])('%j of %j is %j', (wanted, now, to) => {
  expect(sideFor(wanted, now)).toEqual(to);
});
