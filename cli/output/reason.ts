import { startingCode } from '../../services/contracts/reason-codes.ts';

export interface Reason {
  readonly message: string;
  readonly repair: string;
}

/** The backend's reason for an MCP server that a person switched off. */
const disabledCode = 'disabled';

/** An MCP server that starts or is switched off is Disconnected. A person wants to know which. */
export function shownStatus<Status extends string>({
  status,
  reason,
}: {
  readonly status: Status;
  readonly reason: { readonly code: string } | null;
}): Status | 'Starting' | 'Disabled' {
  if (status !== 'Disconnected') return status;
  if (reason?.code === startingCode) return 'Starting';
  return reason?.code === disabledCode ? 'Disabled' : status;
}

/** A reason and its repair on one line. */
export function briefly({ message, repair }: Reason): string {
  return `${message.split('\n', 1)[0]} ${repair}`;
}

interface WithReason {
  readonly name: string;
  readonly reason: (Reason & { readonly code: string }) | null;
}

/** The reasons that stand below a table, by name. What a person switched off is as it should be. */
export function reasonsOf(things: readonly WithReason[]) {
  return things.flatMap(({ name, reason }) =>
    reason === null || reason.code === disabledCode ? [] : [{ name, text: briefly(reason) }],
  );
}
