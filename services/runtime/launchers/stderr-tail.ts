import { reportLengths, stderrLinesMax } from '../../contracts/bus/messages.ts';
import { shownLine } from '../../contracts/shown-text.ts';
import type { Redact } from './redact.ts';

/** A program that refuses to start may print its error, and then a page of usage. One that ran wrote more than this. */
const linesMax = 100;
/** The error and its continuation. */
const errorLines = 3;
const errorStart = /^\W*(\w*(error|exception)|fatal|panic)\b/i;
/** A line is cut to this length before it is read; the rest up to its newline is discarded. */
const lineMaxBytes = 8 * 1024;
const newline = 10;

/**
 * The last lines of a child's standard error, for people, with the error that earlier lines begin with. Lines are cut
 * and secrets redacted; `forward` gets every line.
 */
export class StderrTail {
  readonly #redact: Redact;
  readonly #forward: (line: string) => void;
  readonly #lines: string[] = [];
  #open = Buffer.alloc(0);

  constructor(redact: Redact, forward: (line: string) => void) {
    this.#redact = redact;
    this.#forward = forward;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      this.#extend(chunk.subarray(start, end));
      this.#close();
      start = end + 1;
    }
    this.#extend(chunk.subarray(start));
  }

  lines(): readonly string[] {
    const lines = this.#open.length === 0 ? this.#lines : [...this.#lines, this.#readable(this.#open)];
    const last = lines.slice(-stderrLinesMax);
    const error = lines.findLastIndex((line) => errorStart.test(line));
    const isBefore = error >= 0 && error < lines.length - last.length;
    if (!isBefore || this.#lines.length === linesMax) return last;
    return [...lines.slice(error, error + errorLines), ...last.slice(errorLines)];
  }

  #extend(part: Buffer): void {
    const room = lineMaxBytes - this.#open.length;
    if (part.length > 0 && room > 0) this.#open = Buffer.concat([this.#open, part.subarray(0, room)]);
  }

  #close(): void {
    const line = this.#readable(this.#open);
    this.#open = Buffer.alloc(0);
    if (line === '') return;
    this.#forward(line);
    this.#lines.push(line);
    if (this.#lines.length > linesMax) this.#lines.shift();
  }

  /**
   * Redacted before it is cut: half a secret is still one. Escape sequences are removed, because elsewhere than on a
   * terminal they are forgeries.
   */
  #readable(bytes: Buffer): string {
    const text = bytes.toString('utf8').replace(terminalSequence, '').replace(controlCharacter, ' ');
    const { stderrLine } = reportLengths;
    return shownLine(this.#redact(text).slice(0, stderrLine), stderrLine).trimEnd();
  }
}

const terminalSequence = /\p{Cc}\[[0-9;?]*[ -/]*[@-~]/gu;
/** Every control character except tab. */
const controlCharacter = /[^\P{Cc}\t]/gu;
