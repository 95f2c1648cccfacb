import { expect, test } from 'vitest';
import { type Side, sideFor, type WantedSide } from './side.ts';

const embedded: Side = { topology: 'embedded', graph: 'sqlite', engine: 'process' };
const onFile: Side = { topology: 'distributed', graph: 'sqlite', engine: 'process' };
const onDgraph: Side = { topology: 'distributed', graph: 'dgraph', engine: 'process' };
const inContainers: Side = { ...onFile, engine: 'docker' };

test.each<[WantedSide, Side, Side]>([
  [{ topology: 'distributed' }, embedded, onFile],
  [{ topology: 'distributed', graph: 'dgraph', engine: 'process' }, embedded, onDgraph],
  [{ graph: 'dgraph' }, onFile, onDgraph],
  [{ graph: 'sqlite' }, onDgraph, onFile],
  [{ topology: 'distributed' }, onDgraph, onDgraph],
  [{ topology: 'embedded' }, onDgraph, embedded],
  [{ topology: 'distributed', engine: 'docker' }, embedded, inContainers],
  [{ engine: 'docker' }, onFile, inContainers],
  [{ engine: 'process' }, inContainers, onFile],
  [{ graph: 'dgraph' }, inContainers, { ...onDgraph, engine: 'docker' }],
  [{ topology: 'distributed' }, inContainers, inContainers],
  [{ topology: 'embedded' }, inContainers, embedded],
])('%j of %j is %j', (wanted, now, to) => {
  expect(sideFor(wanted, now)).toEqual(to);
});
