import { expect, test } from 'vitest';
import type { Losses } from '../../place/losses.ts';
import { describeLostVolume, findLostVolumes } from './lost-volumes.ts';
import { planFrom } from './test/planned.ts';

const plan = planFrom('graph: dgraph\nreplicas: { dgraph-zero: 3, dgraph-alpha: 2 }\n');
const nodes = ['dgraph-zero', 'dgraph-zero-2', 'dgraph-zero-3', 'dgraph-alpha', 'dgraph-alpha-2'];
const all = [...nodes, 'nats', 'runtime'];
const named = (part: string) => `svc-abcdef0123456789-${part}`;

/** The record of all volumes, and the existing volumes: all except `gone`. */
function known(gone: readonly string[]) {
  const services = all.map((name) => ({ name, container: named(name), url: null }));
  const record = { volumes: all.map(named), services };
  return [record, new Set(all.filter((part) => !gone.includes(part)).map(named))] as const;
}

test.each<{ gone: readonly string[]; losses: Partial<Record<keyof Losses, readonly string[]>> }>([
  { gone: [], losses: {} },
  { gone: ['dgraph-zero-2'], losses: { keptOut: ['dgraph-zero-2'] } },
  { gone: ['dgraph-alpha'], losses: { needed: ['dgraph-alpha'] } },
  { gone: ['dgraph-zero', 'dgraph-zero-2'], losses: { needed: ['dgraph-zero', 'dgraph-zero-2'] } },
  { gone: nodes, losses: { whole: nodes } },
  { gone: ['nats', 'dgraph-zero-3'], losses: { whole: ['nats'], keptOut: ['dgraph-zero-3'] } },
])('volumes that are gone are lost by what they mean for a start: $gone', ({ gone, losses }) => {
  const lossesOf = (names: readonly string[] = []) =>
    names.map((name) => expect.objectContaining({ place: named(name), words: `the volume ${named(name)}` }));
  expect(findLostVolumes(plan, ...known(gone))).toEqual({
    keptOut: lossesOf(losses.keptOut),
    needed: lossesOf(losses.needed),
    whole: lossesOf(losses.whole),
  });
});

test('a node of Dgraph is lost while its volume is gone', () => {
  expect(describeLostVolume('dgraph-zero', ...known([]))).toBeNull();
  expect(describeLostVolume('dgraph-zero', ...known(['dgraph-zero']))).toContain('is missing');
  expect(describeLostVolume('nats', ...known(['nats']))).toBeNull();
});
