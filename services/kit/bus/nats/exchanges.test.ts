import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';

/** Prints how long the process stays after its last request ended. */
const program = `
  import { Exchanges } from '${new URL('./exchanges.ts', import.meta.url)}';
  const exchanges = new Exchanges({ own: 'asker', send() {}, turn: () => 0, logger: null }, null);
  const asked = exchanges.ask('svc.runtime.edge.one.call', Buffer.from('?'), { timeoutMs: 60_000 });
  exchanges.abandon();
  const since = performance.now();
  process.on('exit', () => process.stdout.write(String(performance.now() - since)));
  await asked.catch(() => {});
`;

it('a process without open requests ends at once', () => {
  const stayedMs = Number(execFileSync(process.execPath, ['--input-type=module', '--eval', program]));
  expect(stayedMs).toBeLessThan(500);
});
