/** How an unstopped platform ended. */
export interface UnwantedEnd {
  /** `outside`: killed from outside; `failure`: by itself, with a reason. */
  readonly by: 'outside' | 'failure';
  readonly pid: number;
  /** ISO 8601. The time of a kill is not recorded: the last sign of activity. */
  readonly at: string;
  readonly reason: string | null;
  readonly lastLogLine: string | null;
}

export function describeEnd({ by, pid, at, reason, lastLogLine }: UnwantedEnd): string {
  const how =
    by === 'outside'
      ? `was ended from outside (not by svc down), at about ${at}`
      : `ended by itself, at ${at}: ${reason?.split('\n', 1)[0]?.replace(/[.\s]+$/, '')}`;
  return `The previous platform (pid ${pid}) ${how}${lastLogLine === null ? '.' : `; its last log line: ${lastLogLine.replace(/\.$/, '')}.`}`;
}
