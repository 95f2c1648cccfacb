import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';

/** Says how long it stays when nobody waits for anything any more. */
const program = `
  import { Exchanges } from '${new URL('./exchanges.ts', import.meta.url)}';
  const exchanges = new Exchanges({ own: 'asker', send() {}, turn: () => 0, logger: null }, null);
  const asked = exchanges.ask('svc.runtime.edge.one.call', Buffer.from('?'), { timeoutMs: 60_000 });
  exchanges.abandon();
  const since = performance.now();
  process.on('exit', () => process.stdout.write(String(performance.now() - since)));
  await asked.catch(() => {});
`;

it('a process that has asked and waits for nothing any more ends at once', () => {
  const stayedMs = Number(execFileSync(process.execPath, ['--input-type=module', '--eval', program]));
  expect(stayedMs).toBeLessThan(500);
});
