import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StartedProgram } from '../../stack/test/started-program.ts';
import { svcFile } from './run-svc.ts';

/** A folder as on another machine: it contains only the copied files. */
export class Elsewhere implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'svc-edge-'));
  readonly #started = new Set<ChildProcess>();

  /** Runs `svc runtime start` there, with the variables of edge.env. */
  readonly start = (...more: string[]): StartedProgram => this.startWith({}, ...more);

  startWith(env: Readonly<Record<string, string>>, ...more: string[]): StartedProgram {
    const words = ['runtime', 'start', '--variable-file', 'edge.env', ...more];
    const child = spawn(process.execPath, [svcFile, ...words], {
      cwd: this.folder,
      env: { PATH: process.env.PATH ?? '', HOME: this.folder, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#started.add(child);
    return new StartedProgram(child);
  }

  [Symbol.dispose](): void {
    for (const child of this.#started) child.kill('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
