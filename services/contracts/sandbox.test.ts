import { expect, test } from 'vitest';
import { confinementOf, explainBwrap } from './sandbox.ts';

test.each([
  ['bwrap: setting up uid map: Permission denied', /AppArmor forbids/, /apparmor_restrict_unprivileged_userns/],
  [
    'bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces. See …',
    /only root/,
    /unprivileged_userns_clone/,
  ],
  [
    'bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)',
    /limit of namespaces/,
    /max_user_namespaces/,
  ],
  ["bwrap: Can't mount proc on /newroot/proc: Operation not permitted", /mount its own \/proc/, /container/],
  ['bwrap: Failed to make / slave: Permission denied', /mount anything/, /container/],
  ['a line before\nbwrap: Something else', /bwrap said "Something else"/, /by hand/],
  ['', /bwrap said "nothing"/, /by hand/],
])('"%s" is reported with its repair', (words, what, repair) => {
  const told = explainBwrap(words);
  expect(told.what).toMatch(what);
  expect(told.repair).toMatch(repair);
});

test.each([
  ['auto', 'none', 'bwrap'],
  ['bwrap', 'bwrap', 'bwrap'],
  ['container', 'container', 'container'],
  ['none-for-everybody', 'none', 'none'],
  // A runtime of an older version reports this and gets no command of a member.
  ['none', 'none', 'none'],
] as const)('with %s a command of an operator runs in %s, one of a member in %s', (sandbox, operator, member) => {
  expect([confinementOf(sandbox, 'operator'), confinementOf(sandbox, 'member')]).toEqual([operator, member]);
});
