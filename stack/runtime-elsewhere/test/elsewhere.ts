import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const svcFile = fileURLToPath(new URL('../../../dist/svc.cjs', import.meta.url));

/** A folder as on another machine: it contains only the copied files. */
export class Elsewhere implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'svc-edge-'));
  readonly #started = new Set<ChildProcess>();

  /** Writes the file with the variables, as it was copied there. */
  bring(variables: Readonly<Record<string, string>>): void {
    const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`);
    writeFileSync(join(this.folder, 'edge.env'), lines.join(''), { mode: 0o600 });
  }

  /** Runs `svc runtime start` there. */
  start(...more: string[]): StartedRuntime {
    const words = ['runtime', 'start', '--variable-file', 'edge.env', ...more];
    const child = spawn(process.execPath, [svcFile, ...words], {
      cwd: this.folder,
      env: { PATH: process.env.PATH ?? '', HOME: this.folder },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#started.add(child);
    return new StartedRuntime(child);
  }

  [Symbol.dispose](): void {
    for (const child of this.#started) child.kill('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

export class StartedRuntime {
  readonly child: ChildProcess;
  stdout = '';
  stderr = '';
  readonly #ended: Promise<number | null>;

  constructor(child: ChildProcess) {
    this.child = child;
    child.stdout?.on('data', (chunk: Buffer) => (this.stdout += chunk));
    child.stderr?.on('data', (chunk: Buffer) => (this.stderr += chunk));
    this.#ended = new Promise((resolve) => child.once('close', resolve));
  }

  /** Its log, oldest first. */
  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of it
  get lines(): readonly any[] {
    const whole = this.stdout.slice(0, this.stdout.lastIndexOf('\n') + 1);
    return whole
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line));
  }

  said(message: string): boolean {
    return this.lines.some(({ msg }) => msg === message);
  }

  /** Resolves with its exit code. */
  end(signal?: NodeJS.Signals): Promise<number | null> {
    if (signal !== undefined) this.child.kill(signal);
    return this.#ended;
  }
}
