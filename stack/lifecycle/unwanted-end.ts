/** How a platform ended that nobody stopped. */
export interface UnwantedEnd {
  /** `outside`: killed, by whom or what it could not see; `failure`: by itself, and it said why. */
  readonly by: 'outside' | 'failure';
  readonly pid: number;
  /** ISO 8601. Of a kill nobody notes the time: when it was last seen to have done something. */
  readonly at: string;
  /** What it said, where it did. */
  readonly reason: string | null;
  readonly lastLogLine: string | null;
}

/** In words for a person, on one line. */
export function describeEnd({ by, pid, at, reason, lastLogLine }: UnwantedEnd): string {
  const how =
    by === 'outside'
      ? `was ended from outside (not by svc down), at about ${at}`
      : `ended by itself, at ${at}: ${reason?.split('\n', 1)[0]?.replace(/[.\s]+$/, '')}`;
  return `The platform before (pid ${pid}) ${how}${lastLogLine === null ? '.' : `; its last log line: ${lastLogLine}.`}`;
}
