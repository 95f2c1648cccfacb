import { expect, test } from 'vitest';
import { foreignVolumes } from './carry-out.ts';

test('only volumes that are new, or that another user had, are handed over', () => {
  const foreign = (user: string, there: readonly string[]) =>
    foreignVolumes({
      before: { user: '1000:1000', volumes: ['nats', 'backend'] },
      wanted: { volumes: ['nats', 'backend', 'runtime'] },
      volumes: new Set(there),
      user,
    });
  expect(foreign('1000:1000', ['nats', 'backend'])).toEqual(['runtime']);
  expect(foreign('1000:1000', ['nats'])).toEqual(['backend', 'runtime']);
  expect(foreign('1001:1001', ['nats', 'backend'])).toEqual(['nats', 'backend', 'runtime']);
});

test('all are, where nothing is known of them', () => {
  const [wanted, there] = [{ volumes: ['nats'] }, new Set(['nats'])];
  expect(foreignVolumes({ before: null, wanted, volumes: there, user: '1000:1000' })).toEqual(['nats']);
});
