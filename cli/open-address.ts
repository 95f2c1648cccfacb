import { setTimeout as pause } from 'node:timers/promises';
import { findProgram } from '../stack/machine/find-program.ts';

export interface Desktop {
  readonly isMac: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Null: opened. Else why not. */
export type Unopened = string | null;

/** An opener that runs longer has found its browser. */
const patienceMs = 3000;

/** Opens an address in the person's browser, without a shell. */
export async function openAddress(url: string, { isMac, env }: Desktop): Promise<Unopened> {
  if (!isMac && !env.DISPLAY && !env.WAYLAND_DISPLAY) return 'this session has no display';
  const name = isMac ? 'open' : 'xdg-open';
  const program = findProgram(name, env.PATH);
  if (program === null) return `the program ${name} was not found`;
  const { execa } = await import('execa');
  // It may become the browser itself, which outlives svc.
  const opener = execa(program, [url], { stdio: 'ignore', reject: false, detached: true, cleanup: false });
  opener.unref();
  const waiting = new AbortController();
  const running = pause(patienceMs, null, { signal: waiting.signal, ref: true }).catch(() => null);
  const ended = await Promise.race([opener, running]);
  waiting.abort();
  return ended?.failed
    ? `${name} failed${ended.exitCode === undefined ? '' : ` with exit code ${ended.exitCode}`}`
    : null;
}
