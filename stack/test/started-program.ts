import type { ChildProcess } from 'node:child_process';

/** A program whose output is kept. */
export class StartedProgram {
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

  /** The log of the program, oldest line first. */
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
