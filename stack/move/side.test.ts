import { expect, test } from 'vitest';
import { type Side, sideFor, type WantedSide } from './side.ts';

const embedded: Side = { topology: 'embedded', graph: 'sqlite' };
const onFile: Side = { topology: 'distributed', graph: 'sqlite' };
const onDgraph: Side = { topology: 'distributed', graph: 'dgraph' };

test.each<[WantedSide, Side, Side]>([
  [{ topology: 'distributed' }, embedded, onFile],
  [{ topology: 'distributed', graph: 'dgraph' }, embedded, onDgraph],
  [{ graph: 'dgraph' }, onFile, onDgraph],
  [{ graph: 'sqlite' }, onDgraph, onFile],
  [{ topology: 'distributed' }, onDgraph, onDgraph],
  [{ topology: 'embedded' }, onDgraph, embedded],
])('%j of %j is %j', (wanted, now, to) => {
  expect(sideFor(wanted, now)).toEqual(to);
});

test.each<[WantedSide, Side]>([
  [{ graph: 'dgraph' }, embedded],
  [{ topology: 'embedded', graph: 'dgraph' }, onDgraph],
])('%j of %j is refused', (wanted, now) => {
  expect(() => sideFor(wanted, now)).toThrow(
    expect.objectContaining({ code: 'invalid_input', hint: 'Such as: svc move --to distributed --graph dgraph' }),
  );
});
