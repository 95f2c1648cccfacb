import { type Logger, pino } from 'pino';
import type { LogLevel, LogRule } from '../contracts/env/variable.ts';
import { escapeHidden } from '../contracts/hidden-characters.ts';

export type { Logger };

/** Destination of log lines: one JSON object a line. */
export interface LogDestination {
  write(line: string): void;
}

export interface LogOptions {
  /** The service that logs, part of every line. */
  readonly service: string;
  readonly level: LogLevel;
  readonly levels?: readonly LogRule[] | undefined;
  readonly destination: LogDestination;
}

/** Gives the logger of a name, such as `supervisor`; fields come first, the text is constant and in the past tense. */
export type Log = (name: string) => Logger;

export function createLog(options: LogOptions): Log {
  const root = pino(
    {
      level: options.level,
      base: { service: options.service },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line: string) => options.destination.write(escapeHidden(withoutSecrets(line))) },
  );
  const known = new Map<string, Logger>();
  return (name) => {
    const existing = known.get(name);
    if (existing !== undefined) return existing;
    const level = levelFor(name, options.levels ?? []) ?? options.level;
    const logger = root.child({ name }, { level });
    known.set(name, logger);
    return logger;
  };
}

/** The level of the most specific matching pattern: the one with the most literal letters; the last of equals. */
export function levelFor(name: string, rules: readonly LogRule[]): LogLevel | null {
  let best: { readonly letters: number; readonly level: LogLevel } | null = null;
  for (const { pattern, level } of rules) {
    const letters = pattern.replaceAll('*', '').length;
    if ((best === null || letters >= best.letters) && patternMatches(pattern, name)) best = { letters, level };
  }
  return best?.level ?? null;
}

function patternMatches(pattern: string, name: string): boolean {
  const parts = pattern.split('*').map((part) => part.replace(/[.]/g, '\\.'));
  return new RegExp(`^${parts.join('.*')}$`).test(name);
}

/**
 * The last safeguard for the rule that secrets are never logged. It replaces a key or token inside a foreign text, such
 * as the stderr of a child process. The platform's own secrets never reach it, because `Secret` prints itself as
 * `[secret]`.
 */
const keyOrToken = /\b(?:(?:SVA|RTK|SYK|WSK)_|USK)[0-9A-Za-z_-]{16,}|\beyJ[\w-]{8,}(?:\.[\w-]*){2,4}/g;

function withoutSecrets(line: string): string {
  return line.replace(keyOrToken, '[secret]');
}
