export interface Reason {
  readonly message: string;
  readonly repair: string;
}

/** Why something is not as it should be, and what mends it, for a line of its own. */
export function briefly({ message, repair }: Reason): string {
  return `${message.split('\n', 1)[0]} ${repair}`;
}

/** What to say below a table of those in it that are not as they should be. */
export function reasonsOf(things: readonly { readonly name: string; readonly reason: Reason | null }[]) {
  return things.flatMap(({ name, reason }) => (reason === null ? [] : [{ name, text: briefly(reason) }]));
}
