import { escapeHidden } from '../../services/contracts/hidden-characters.ts';
import { type Colour, printable, styled } from './style.ts';
import { broken } from './width.ts';

/**
 * The only writer to the terminal: stdout gets the result, stderr the progress. Control characters of foreign texts
 * never pass it.
 */
export interface Terminal {
  /** The result of the command, for people. Left out with --json. */
  result(text: string): void;
  /** A result that replaces the one before: in place on a terminal, else below it after an empty line. */
  redraw(text: string): void;
  /** The result of the command, for programs: one document on a line. */
  json(value: unknown): void;
  /** Progress. Left out with --quiet. */
  talk(text: string): void;
  /** Progress that deserves attention. */
  warn(text: string): void;
  /** An error. It is printed even with --quiet. */
  complain(text: string): void;
  readonly paint: Paint;
  readonly asJson: boolean;
  /** Width of the terminal that shows the result; null for a file or a program, which gets everything. */
  readonly columns: number | null;
  /** Replaces `svc` in a text by the typed name. A layout needs that before it measures the text. */
  readonly asTyped: (text: string) => string;
  /** True when result and progress both go to a person's terminal. */
  readonly isSeen: boolean;
  /** The terminal in which a list may be drawn in place; null for a file, a program, or a terminal without colours. */
  readonly canvas: Canvas | null;
  /** Whether the command may ask a person. */
  readonly interactive: boolean;
}

/** The person's terminal as a drawing library needs it. Text written here must be printable already. */
export type Canvas = NodeJS.WriteStream;

export type { Colour };
export type Paint = (colour: Colour, text: string) => string;

export interface TerminalOptions {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly noInput: boolean;
}

interface Streams {
  readonly stdin: { readonly isTTY?: boolean };
  readonly stdout: NodeJS.WritableStream & {
    readonly isTTY?: boolean;
    readonly columns?: number;
    readonly rows?: number;
  };
  readonly stderr: NodeJS.WritableStream & {
    readonly isTTY?: boolean;
    readonly columns?: number;
    readonly rows?: number;
  };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Replaces `svc` in a text by the typed name. */
  readonly asTyped: (text: string) => string;
}

export function openTerminal(options: TerminalOptions, streams: Streams): Terminal {
  const { stdout, stderr, env, asTyped } = streams;
  const coloured = wantsColour(env, Boolean(stdout.isTTY));
  const isSeen = !options.json && Boolean(stdout.isTTY) && Boolean(stderr.isTTY);
  let isDrawn = false;
  const shown = (text: string) => ended(printable(asTyped(text)));
  const say = (text: string) => {
    const typed = asTyped(text);
    stderr.write(ended(printable(stderr.isTTY ? broken(typed, stderr.columns || columnsUsual) : typed)));
  };
  const talk = (text: string) => {
    if (!options.quiet) say(text);
  };
  const paint: Paint = (colour, text) => (coloured ? styled(colour, text) : text);
  return {
    result(text) {
      if (!options.json) stdout.write(shown(text));
    },
    redraw(text) {
      if (options.json) return;
      const isScreen = stdout.isTTY && env.TERM !== 'dumb';
      if (isScreen) stdout.write(`${isDrawn ? '' : clearScreen}${onScreen(shown(text), stdout.rows || rowsUsual)}`);
      else stdout.write(`${isDrawn ? '\n' : ''}${shown(text)}`);
      isDrawn = true;
    },
    json(value) {
      if (options.json) stdout.write(`${escapeHidden(JSON.stringify(value))}\n`);
    },
    talk,
    warn: (text) => talk(`${paint('yellow', '!')} ${text}`),
    complain: say,
    paint,
    asJson: options.json,
    // A terminal without a known width counts as one of the usual width.
    columns: stdout.isTTY ? stdout.columns || columnsUsual : null,
    asTyped,
    isSeen,
    canvas: isSeen && coloured && !options.quiet && env.TERM !== 'dumb' ? canvasOn(stderr) : null,
    interactive: !options.noInput && !options.json && Boolean(streams.stdin.isTTY) && Boolean(stderr.isTTY) && !env.CI,
  };
}

/** A library may replace the methods of this object without changing those of the stream. */
function canvasOn(stream: Streams['stderr']): Canvas {
  return Object.assign(Object.create(stream), {
    isTTY: true,
    columns: stream.columns || columnsUsual,
    rows: stream.rows || rowsUsual,
    write: (text: string) => stream.write(text),
  });
}

const columnsUsual = 80;
const rowsUsual = 24;
const clearScreen = '\u001b[2J';
const goHome = '\u001b[H';
const clearRestOfLine = '\u001b[K';
const clearBelow = '\u001b[J';

/** Writes over the last picture line by line, which does not flicker. A picture that is too long would scroll. */
function onScreen(text: string, rows: number): string {
  const lines = text.trimEnd().split('\n');
  const left = lines.length - (rows - 2);
  const fitting = left <= 1 ? lines : [...lines.slice(0, rows - 2), `… and ${left} more lines`];
  return `${goHome}${fitting.map((line) => `${line}${clearRestOfLine}\n`).join('')}${clearBelow}`;
}

/** no-color.org and force-color.org; a dumb terminal and CI get no colours. */
export function wantsColour(env: Readonly<Record<string, string | undefined>>, isTerminal: boolean): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR) return env.FORCE_COLOR !== '0';
  return isTerminal && env.TERM !== 'dumb' && !env.CI;
}

function ended(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}
