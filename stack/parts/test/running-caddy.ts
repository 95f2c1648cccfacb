import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitUntilReady } from '../../lifecycle/readiness.ts';
import { findProgram } from '../../machine/find-program.ts';
import { caddyfile, caddyfileValues, type Front } from '../caddy.ts';
import { readyAt } from '../part.ts';

/** Whether `caddy` is installed, which these tests need. */
export const hasCaddy = findProgram('caddy', process.env.PATH) !== null;

/** The end of the test closes the input, which ends Caddy. */
const endWithInput = 'caddy run --config "$1" --adapter caddyfile & caddy=$!; read -r _; kill -9 $caddy; wait $caddy';

/** Caddy, configured as in a platform, in its own folder that `prepare` may add files to. Ready once its port answers. */
export async function startCaddy(front: Front, prepare: (folder: string) => void = () => undefined) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-front-'));
  prepare(folder);
  const file = join(folder, 'Caddyfile');
  writeFileSync(file, caddyfile(caddyfileValues(front)));
  const env = { PATH: process.env.PATH, HOME: folder };
  const child = spawn('/bin/sh', ['-c', endWithInput, 'sh', file], {
    cwd: folder,
    env,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const own = front.oneHost === null ? null : `${front.bind}:${front.oneHost.httpPort}`;
  const [shared] = Object.values(front.shared.ports).map((port) => `${front.shared.bind}:${port}`);
  await waitUntilReady(readyAt(`http://${own ?? shared}`), { timeoutMs: 20_000, signal: new AbortController().signal });
  return {
    folder,
    async [Symbol.asyncDispose]() {
      child.stdin?.end();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
