import { expect, test } from 'vitest';
import { requireSeen } from './changed-meanwhile.ts';

test('the longest list of seen dependants, as a hostile member may send it, delays no other change', () => {
  const idsOf = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}_${index}`);
  const objects = idsOf('role', 1000).map((id) => ({ id, name: id }));
  const seen = [...idsOf('other', 100_000), ...objects.slice(1).map(({ id }) => id)];
  const before = process.cpuUsage();
  expect(() => requireSeen({ kind: 'skill', name: 'x' }, { kind: 'role', objects, seen })).toThrow(
    'Meanwhile the role "role_0" depends on the skill "x" too. Nothing was removed.',
  );
  // Milliseconds. A comparison of each with each takes more than 500.
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(150);
});
