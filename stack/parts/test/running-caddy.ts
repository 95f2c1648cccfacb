import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitUntilReady } from '../../lifecycle/readiness.ts';
import { findProgram } from '../../machine/find-program.ts';
import { caddyfile, caddyfileValues, type Front } from '../caddyfile.ts';
import { readyAt } from '../part.ts';

/** `caddy`, without which no front can be tried. */
export const hasCaddy = findProgram('caddy', process.env.PATH) !== null;

/** Whatever ends the test ends the input, and with it Caddy. */
const endWithInput = 'caddy run --config "$1" --adapter caddyfile & caddy=$!; read -r _; kill -9 $caddy; wait $caddy';

/** Caddy, configured as a platform configures it, in a folder of its own that `prepare` may put files into. Ready once its port says so. */
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
