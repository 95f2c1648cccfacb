import { holdProcess } from '../part-process.ts';

/** Holds a process that would make a file, prints its pid, and waits to be killed. */
const [log = '', file = ''] = process.argv.slice(2);
const { identity } = holdProcess({
  program: '/bin/sh',
  args: ['-c', `echo ran > "${file}"`],
  env: {},
  cwd: '/',
  log,
  isClosed: true,
});
process.stdout.write(`${identity.pid}\n`);
// Ends at the latest with the test.
process.stdin.on('end', () => process.exit(1)).resume();
