import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';

/** Prints how often a timer of 25 ms, like the one that looks for expired requests, fires after the last request ended. */
const program = `
  import { Exchanges } from '${new URL('./exchanges.ts', import.meta.url)}';
  const exchanges = new Exchanges({ own: 'asker', send() {}, turn: () => 0, logger: null }, null);
  const asked = exchanges.ask('svc.runtime.edge.one.call', Buffer.from('?'), { timeoutMs: 60_000 });
  exchanges.abandon();
  let ticks = 0;
  setInterval(() => ticks++, 25).unref();
  process.on('exit', () => process.stdout.write(String(ticks)));
  await asked.catch(() => {});
`;

it('a process without open requests ends at once', () => {
  const ticks = Number(execFileSync(process.execPath, ['--input-type=module', '--eval', program]));
  expect(ticks).toBeLessThanOrEqual(2);
});
