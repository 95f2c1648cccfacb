import { chmodSync, copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Programs } from '../process-plan.ts';

/** One test program under the names of all programs of a platform. */
export function programsIn(dir: string): Programs {
  const file = (name: string) => join(dir, `${name}.mjs`);
  const services = {
    backend: file('backend'),
    'remote-mcp': file('remote-mcp'),
    runtime: file('runtime'),
    frontend: file('frontend'),
  };
  return { node: process.execPath, find: (command) => join(dir, command), services };
}

export function makePrograms(dir: string): void {
  const source = fileURLToPath(new URL('./part.mjs', import.meta.url));
  const { services } = programsIn(dir);
  for (const file of Object.values(services)) copyFileSync(source, file);
  for (const [name, version] of [
    ['nats-server', 'nats-server: v2.11.0'],
    ['caddy', '2.6.2'],
  ] as const) {
    const file = join(dir, name);
    copyFileSync(source, `${file}.mjs`);
    const tell = `case "$1" in --version|version) echo "${version}"; exit;; esac`;
    writeFileSync(file, `#!/bin/sh\n${tell}\nexec "${process.execPath}" "${file}.mjs" "$@"\n`);
    chmodSync(file, 0o755);
  }
}
