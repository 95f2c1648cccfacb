import { expect, test } from 'vitest';
import { foreignVolumes } from './prepare.ts';

test.each([
  { user: '1000:1000', there: ['nats', 'backend'], handedOver: ['runtime'] },
  { user: '1000:1000', there: ['nats'], handedOver: ['backend', 'runtime'] },
  { user: '1001:1001', there: ['nats', 'backend'], handedOver: ['nats', 'backend', 'runtime'] },
])('only volumes that are new, or that another user had, are handed over: %o', ({ user, there, handedOver }) => {
  const before = { user: '1000:1000', volumes: ['nats', 'backend'] };
  const wanted = ['nats', 'backend', 'runtime'];
  expect(foreignVolumes(wanted, { before, volumes: new Set(there), user })).toEqual(handedOver);
  expect(foreignVolumes(wanted, { before: null, volumes: new Set(there), user })).toEqual(wanted);
});
