import { describe, expect, test } from 'vitest';
import { type StartEmpty, settleLosses } from '../../place/losses.ts';
import { describeLostVolume, findLostVolumes } from './lost-volumes.ts';
import { planFrom } from './test/planned.ts';

const plan = planFrom('graph: dgraph\nreplicas: { dgraph-zero: 3, dgraph-alpha: 2 }\n');
const nodes = ['dgraph-zero', 'dgraph-zero-2', 'dgraph-zero-3', 'dgraph-alpha', 'dgraph-alpha-2'];
const all = [...nodes, 'nats', 'runtime'];
const named = (part: string) => `svc-abcdef0123456789-${part}`;

/** The records of volumes and the existing volumes, without those that are gone. `filling` have an unfinished copy. */
function known(gone: readonly string[], filling: readonly string[] = []) {
  const services = all.map((name) => ({ name, container: named(name), url: null }));
  const record = { volumes: all.map(named), services, filling: filling.map(named) };
  return { record, there: new Set(all.filter((part) => !gone.includes(part)).map(named)) };
}

/** The volumes that are given up, the notices and the question to the operator. */
async function settle(gone: readonly string[], agrees = false) {
  const [notices, asked]: [string[], string[]] = [[], []];
  const startEmpty: StartEmpty | null = agrees ? async (names) => void asked.push(...names) : null;
  const onNotice = (message: string) => void notices.push(message);
  const { record, there } = known(gone);
  const given = await settleLosses(findLostVolumes(plan, record, there), { startEmpty, runningPid: null, onNotice });
  return { given, notices, asked };
}

describe('volumes of nodes of Dgraph that are gone', () => {
  test('one of three: its node is kept out and reported', async () => {
    const volume = named('dgraph-zero-2');
    const told = `dgraph-zero-2: Its data is missing, so the node is not started: the volume ${volume}.`;
    expect(await settle(['dgraph-zero-2'])).toEqual({ given: [], asked: [], notices: [expect.stringContaining(told)] });
  });

  test.each([
    [['dgraph-alpha']],
    [['dgraph-zero', 'dgraph-zero-2', 'dgraph-zero-3']],
    [['dgraph-zero', 'dgraph-zero-2']],
    [['dgraph-alpha', 'dgraph-alpha-2']],
  ])('%s: without a majority, refused, with consent too', async (gone) => {
    for (const agrees of [false, true]) {
      await expect(settle(gone, agrees)).rejects.toMatchObject({
        code: 'not_found',
        message: expect.stringContaining(`no majority: the volume ${named(gone[0] ?? '')}`),
        hint: expect.stringContaining('svc restore FILE'),
      });
    }
  });

  test('all of them: an empty start, where that is wanted', async () => {
    await expect(settle(nodes)).rejects.toMatchObject({ hint: expect.stringContaining('To start without it') });
    expect(await settle(nodes, true)).toMatchObject({ given: nodes.map(named) });
  });

  test('volumes of other parts are no matter of nodes', async () => {
    await expect(settle(['nats', 'dgraph-zero-3'])).rejects.toMatchObject({
      message: `Data of this installation is missing: the volume ${named('nats')}.`,
    });
    expect(await settle(['nats', 'dgraph-zero-3'], true)).toMatchObject({
      given: [named('nats')],
      asked: [`the volume ${named('nats')}`],
    });
  });
});

test('a node of Dgraph is lost while its volume is gone, or has the unfinished copy of an earlier version', () => {
  const describeLoss = (part: string, { record, there }: ReturnType<typeof known>) =>
    describeLostVolume(part, record, there);
  expect(describeLoss('dgraph-zero', known([]))).toBeNull();
  expect(describeLoss('dgraph-zero', known(['dgraph-zero']))).toContain('is missing');
  expect(describeLoss('dgraph-zero', known([], ['dgraph-zero']))).toContain('is missing');
  expect(describeLoss('nats', known(['nats']))).toBeNull();
});
