import { expect, test } from 'vitest';
import { checkDefinition } from '../../definition/check.ts';
import { refuseLostNodes } from './refuse-lost-nodes.ts';

const definition = checkDefinition(
  'id: abcdef0123456789\ntopology: distributed\nengine: docker\ngraph: dgraph\nreplicas: { dgraph-zero: 3, dgraph-alpha: 2 }\n',
  'svc.yaml',
);
const all = ['dgraph-zero', 'dgraph-zero-2', 'dgraph-zero-3', 'dgraph-alpha', 'dgraph-alpha-2', 'nats'];
const named = (part: string) => `svc-abcdef0123456789-${part}`;
const refuse = (lost: readonly string[]) => () =>
  refuseLostNodes({
    definition,
    gone: lost.map(named),
    there: new Set(all.filter((part) => !lost.includes(part)).map(named)),
  });

test.each([['dgraph-zero'], ['dgraph-alpha-2'], ['dgraph-zero', 'dgraph-zero-2', 'dgraph-zero-3']])(
  'a volume of %s is not made anew while other nodes of Dgraph have data',
  (...lost) => {
    expect(refuse(lost)).toThrow(
      expect.objectContaining({
        code: 'not_found',
        message: expect.stringContaining(`the volume ${named(lost[0] ?? '')}`),
      }),
    );
  },
);

test('volumes of the whole graph, and of others, are no matter of single nodes', () => {
  refuse(all.slice(0, 5))();
  refuse(['nats'])();
});
