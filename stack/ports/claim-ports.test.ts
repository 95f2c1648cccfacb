import { describe, expect, test } from 'vitest';
import { SvcError } from '../../services/contracts/errors.ts';
import { claimPorts, type PortWishes } from './claim-ports.ts';

const auto = { backend: 'auto', 'remote-mcp': 'auto', runtime: 'auto', frontend: 'auto' } as const;

function claim(taken: readonly number[], wishes: Partial<PortWishes> = {}) {
  return claimPorts({
    wanted: auto,
    leased: {},
    isFree: async (port) => !taken.includes(port),
    holderOf: (port) => `holder of ${port}`,
    ...wishes,
  });
}

test('where all is free, the usual ones', async () => {
  expect(await claim([])).toEqual({
    ports: { backend: 3000, 'remote-mcp': 3001, runtime: 3003, frontend: 8888 },
    notices: [],
  });
});

test('one that is taken moves to the next that nobody has or is meant to have', async () => {
  expect(await claim([3000, 3002, 8888])).toEqual({
    ports: { backend: 3004, 'remote-mcp': 3001, runtime: 3003, frontend: 8889 },
    notices: [
      'Port 3000 is taken by holder of 3000: backend moved to 3004, and stays there.',
      'Port 8888 is taken by holder of 8888: frontend moved to 8889, and stays there.',
    ],
  });
});

test('it stays where it moved, also when the usual one is free again', async () => {
  const leased = { backend: 3004, 'remote-mcp': 3001, runtime: 3003, frontend: 8889 };
  expect(await claim([], { leased })).toEqual({ ports: leased, notices: [] });
});

test('it moves on when that one is taken', async () => {
  const leased = { backend: 3004, 'remote-mcp': 3001, runtime: 3003, frontend: 8888 };
  expect((await claim([3004], { leased })).ports.backend).toBe(3005);
});

test('after a lost race it avoids what it had, and hops away', async () => {
  const claimed = await claim([], { avoid: new Set([3000, 3001]), skip: 40 });
  expect(claimed.ports).toEqual({ backend: 3041, 'remote-mcp': 3042, runtime: 3003, frontend: 8888 });
});

test('a port chosen by hand is left alone by the others', async () => {
  const wanted = { ...auto, frontend: 3000 };
  expect(await claim([], { wanted })).toMatchObject({ ports: { backend: 3002, frontend: 3000 } });
});

describe('refusals', () => {
  test('a chosen port that is taken is a conflict that names the holder', async () => {
    const refused = claim([4000], { wanted: { ...auto, backend: 4000 } });
    await expect(refused).rejects.toMatchObject({
      code: 'conflict',
      message: 'Port 4000 of backend is taken by holder of 4000.',
      hint: expect.stringContaining('ports.backend'),
    });
    await expect(refused).rejects.toBeInstanceOf(SvcError);
  });

  test('one port for two', async () => {
    const wanted = { ...auto, backend: 4000, runtime: 4000 };
    await expect(claim([], { wanted })).rejects.toMatchObject({
      code: 'invalid_input',
      message: 'ports.backend and ports.runtime are both 4000.',
    });
  });

  test('a machine without a free port', async () => {
    await expect(claim([], { isFree: async () => false })).rejects.toThrow(/No port from 3000 to 3500 is free/);
  });
});
