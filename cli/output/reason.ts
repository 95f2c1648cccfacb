import { startingCode } from '../../services/contracts/bus/messages.ts';

export interface Reason {
  readonly message: string;
  readonly repair: string;
}

/** An MCP server that starts is Disconnected, and a person wants to know that it is about to connect. */
export function shownStatus<Status extends string>({
  status,
  reason,
}: {
  readonly status: Status;
  readonly reason: { readonly code: string } | null;
}): Status | 'Starting' {
  return reason?.code === startingCode && status === 'Disconnected' ? 'Starting' : status;
}

/** A reason and its repair on one line. */
export function briefly({ message, repair }: Reason): string {
  return `${message.split('\n', 1)[0]} ${repair}`;
}

/** The reasons that stand below a table, by name. */
export function reasonsOf(things: readonly { readonly name: string; readonly reason: Reason | null }[]) {
  return things.flatMap(({ name, reason }) => (reason === null ? [] : [{ name, text: briefly(reason) }]));
}
