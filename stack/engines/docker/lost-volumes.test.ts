import { describe, expect, test } from 'vitest';
import type { StartEmpty } from '../../place/settle-losses.ts';
import { checkDefinition } from '../../settings/check.ts';
import { lossOfVolume, settleLostVolumes } from './lost-volumes.ts';

const definition = checkDefinition(
  'id: abcdef0123456789\ntopology: distributed\nengine: docker\ngraph: dgraph\nreplicas: { dgraph-zero: 3, dgraph-alpha: 2 }\n',
  'svc.yaml',
);
const nodes = ['dgraph-zero', 'dgraph-zero-2', 'dgraph-zero-3', 'dgraph-alpha', 'dgraph-alpha-2'];
const all = [...nodes, 'nats', 'runtime'];
const named = (part: string) => `svc-abcdef0123456789-${part}`;

/** The outcome, the notices and the question to the operator. */
async function settle(gone: readonly string[], agrees = false, mayKeepOut = true) {
  const [notices, asked]: [string[], string[]] = [[], []];
  const startEmpty: StartEmpty | null = agrees ? async (names) => void asked.push(...names) : null;
  const there = new Set(all.filter((part) => !gone.includes(part)).map(named));
  const settled = await settleLostVolumes({
    definition,
    gone: gone.map(named),
    there,
    startEmpty,
    mayKeepOut,
    onNotice: (message) => void notices.push(message),
  });
  return { ...settled, notices, asked };
}

describe('volumes of nodes of Dgraph that are gone', () => {
  test('one of three: its node is kept out, and told', async () => {
    const volume = named('dgraph-zero-2');
    expect(await settle(['dgraph-zero-2'])).toEqual({
      ...{ whole: [], lost: ['dgraph-zero-2'], copied: [], asked: [] },
      notices: [expect.stringContaining(`dgraph-zero-2: Its volume ${volume} is missing, so the node is not started.`)],
    });
  });

  test('one of three, with consent: its node gets a copy', async () => {
    expect(await settle(['dgraph-zero-2'], true)).toMatchObject({
      ...{ whole: [], lost: ['dgraph-zero-2'], copied: ['dgraph-zero-2'] },
      asked: [`the volume ${named('dgraph-zero-2')}`],
    });
  });

  test('one of two: refused, with the repair', async () => {
    await expect(settle(['dgraph-alpha'])).rejects.toMatchObject({
      code: 'not_found',
      message: `Data of this installation is missing: the volume ${named('dgraph-alpha')}.`,
      hint: expect.stringContaining('To copy it from another node: svc up --start-empty'),
    });
  });

  test('one of two, with consent: its node gets a copy, before others do', async () => {
    const { lost, copied } = await settle(['dgraph-alpha-2', 'dgraph-zero'], true);
    expect({ lost, copied }).toEqual({ lost: ['dgraph-zero', 'dgraph-alpha-2'], copied: ['dgraph-alpha-2'] });
  });

  test.each([
    [['dgraph-zero', 'dgraph-zero-2', 'dgraph-zero-3']],
    [['dgraph-zero', 'dgraph-zero-2']],
    [['dgraph-alpha', 'dgraph-alpha-2']],
  ])('too many (%s): refused, with consent too', async (gone) => {
    for (const agrees of [false, true]) {
      await expect(settle(gone, agrees)).rejects.toMatchObject({
        code: 'not_found',
        message: expect.stringContaining(`the volume ${named(gone[0] ?? '')}`),
        hint: expect.stringContaining('Restore the volumes of Dgraph from a backup'),
      });
    }
  });

  test('all of them: an empty start, where that is wanted', async () => {
    await expect(settle(nodes)).rejects.toMatchObject({ hint: expect.stringContaining('To start without it') });
    expect(await settle(nodes, true)).toMatchObject({ whole: nodes.map(named), lost: [], copied: [] });
  });

  test.each([['dgraph-zero'], ['nats'], ['runtime']])(
    'a move is refused while the volume of %s is lost',
    async (part) => {
      await expect(settle([part], false, false)).rejects.toMatchObject({
        code: 'not_found',
        message: `Data of this installation is missing: the volume ${named(part)}.`,
      });
    },
  );

  test('volumes of other parts are no matter of nodes', async () => {
    expect(await settle(['nats', 'dgraph-zero-3'], true)).toMatchObject({
      ...{ whole: [named('nats')], copied: ['dgraph-zero-3'] },
      asked: [`the volume ${named('nats')}`, `the volume ${named('dgraph-zero-3')}`],
    });
  });
});

describe('of what the record names', () => {
  const known = (there: readonly string[], filling: readonly string[] = []) => ({
    record: { volumes: all.map(named), filling: filling.map(named) },
    there: new Set(there.map(named)),
  });

  test('a node of Dgraph is lost while its volume is gone, or holds a part of a copy', () => {
    const lossOf = (part: string, there: readonly string[], filling: readonly string[] = []) =>
      lossOfVolume(named(part), { part, ...known(there, filling) });
    expect(lossOf('dgraph-zero', ['dgraph-zero'])).toBeNull();
    expect(lossOf('dgraph-zero', [])).toContain('is missing');
    expect(lossOf('dgraph-zero', ['dgraph-zero'], ['dgraph-zero'])).toContain('is missing');
    expect(lossOf('nats', [])).toBeNull();
  });
});
