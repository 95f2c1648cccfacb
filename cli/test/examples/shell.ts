import { spawn } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram } from '../../../stack/machine/find-program.ts';
import { repository } from '../../../stack/test/foreign-servers.ts';
import { type Run, svcFile } from '../run-svc.ts';
import type { Line } from './stories.ts';

const timeoutMs = 60_000;

/**
 * A person's shell in a folder: only the programs below are on its PATH, so that an example answers the same on every machine. `npx` runs the
 * packages that this repository has, and never fetches one.
 */
export class PersonShell {
  readonly folder: string;
  readonly #bin: string;

  /** `programs` of this machine are on the PATH too. */
  constructor(folder: string, programs: readonly string[] = []) {
    this.folder = folder;
    this.#bin = join(folder, 'bin');
    mkdirSync(this.#bin);
    for (const name of ['bash', 'sh', 'cat', 'cp', 'node', ...programs]) {
      symlinkSync(findProgram(name, process.env.PATH) ?? name, join(this.#bin, name));
    }
    this.#program('svc', `exec '${process.execPath}' '${svcFile}' "$@"`);
    const packages = join(repository, 'node_modules/@modelcontextprotocol');
    this.#program(
      'npx',
      `name="\${2##*/}"; [ "$name" = github-mcp-server ] && name=server-everything; shift 2; exec node ${packages}/$name/dist/index.js "$@"`,
    );
    this.#program('sudo', 'exec "$@"');
    this.#program('xdg-open', 'exit 0');
    this.#program('loginctl', 'echo Linger=yes');
    // A person who is not root may manage their own services only.
    this.#program('systemctl', 'case "$*" in *--system*) echo "Access denied" >&2; exit 1;; esac');
  }

  #program(name: string, body: string): void {
    writeFileSync(join(this.#bin, name), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  }

  run({ line, until, in: below = '.' }: Line): Promise<Run> {
    const cwd = join(this.folder, below);
    mkdirSync(cwd, { recursive: true });
    const env = {
      ...{ PATH: this.#bin, HOME: this.folder, DISPLAY: ':0', NO_COLOR: '1' },
      ...{ GITHUB_TOKEN: 'hush', AUTHORIZATION: 'Bearer hush' },
    };
    const child = spawn('bash', ['-c', line], {
      ...{ cwd, env, timeout: timeoutMs, killSignal: 'SIGKILL' },
      // A process group of its own, which Ctrl-C goes to.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return new Promise((resolve, reject) => {
      let [stdout, stderr, isInterrupted] = ['', '', false];
      child.stdout.on('data', (chunk) => {
        stdout += chunk;
        if (isInterrupted || until === undefined || !stdout.includes(until)) return;
        isInterrupted = true;
        process.kill(-(child.pid ?? 0), 'SIGINT');
      });
      child.stderr.on('data', (chunk) => {
        stderr += chunk;
      });
      child.once('error', reject);
      child.once('close', (code) => resolve({ code, stdout, stderr }));
    });
  }
}
