import { expect, test } from 'vitest';
import { requireSeen } from './changed-meanwhile.ts';

test('the longest list of seen dependants, as a hostile member may send it, delays no other change', () => {
  const objects = Array.from({ length: 1000 }, (_, index) => ({ id: `role_${index}`, name: `role_${index}` }));
  // As many as the body of a request may hold.
  const others = Array.from({ length: 600_000 }, (_, index) => index.toString(36));
  const seen = [...others, ...objects.slice(1).map(({ id }) => id)];
  const before = process.cpuUsage();
  expect(() => requireSeen({ kind: 'skill', name: 'x' }, { kind: 'role', objects, seen })).toThrow(
    'Meanwhile the role "role_0" depends on the skill "x" too. Nothing was removed.',
  );
  // Milliseconds. A comparison of each with each takes more than twice as long.
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(250);
});
