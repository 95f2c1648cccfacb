export interface Reason {
  readonly message: string;
  readonly repair: string;
}

/** A reason and its repair on one line. */
export function briefly({ message, repair }: Reason): string {
  return `${message.split('\n', 1)[0]} ${repair}`;
}

/** The reasons that stand below a table, by name. */
export function reasonsOf(things: readonly { readonly name: string; readonly reason: Reason | null }[]) {
  return things.flatMap(({ name, reason }) => (reason === null ? [] : [{ name, text: briefly(reason) }]));
}
