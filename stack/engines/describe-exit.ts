/** How a process ended. Both null: the end was not observed. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** How a process ended, in words that follow its name. */
export function describeExit({ code, signal }: Exit): string {
  if (signal === 'SIGKILL') return 'was killed (SIGKILL), by a user or by a system short of memory';
  if (signal === 'SIGTERM' || signal === 'SIGINT' || signal === 'SIGHUP') return `was ended from outside (${signal})`;
  if (signal !== null) return `crashed (${signal})`;
  return code === null ? 'ended in an unknown way' : `ended with exit code ${code}`;
}
