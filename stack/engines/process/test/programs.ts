import { chmodSync, copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Programs } from '../process-plan.ts';

/** One program of the tests under five names, for what a platform runs. */
export function programsIn(dir: string): Programs {
  const file = (name: string) => join(dir, `${name}.mjs`);
  const services = {
    backend: file('backend'),
    'remote-mcp': file('remote-mcp'),
    runtime: file('runtime'),
    frontend: file('frontend'),
  };
  return { node: process.execPath, natsServer: join(dir, 'nats-server'), services };
}

export function makePrograms(dir: string): void {
  const source = fileURLToPath(new URL('./part.mjs', import.meta.url));
  const { services, natsServer } = programsIn(dir);
  const nats = join(dir, 'nats-server.mjs');
  for (const file of [...Object.values(services), nats]) copyFileSync(source, file);
  if (natsServer === null) return;
  const version = 'if [ "$1" = --version ]; then echo "nats-server: v2.11.0"; exit; fi';
  writeFileSync(natsServer, `#!/bin/sh\n${version}\nexec "${process.execPath}" "${nats}" "$@"\n`);
  chmodSync(natsServer, 0o755);
}
