/** Why something is not as it should be, and what mends it, for a line of its own. */
export function briefly({ message, repair }: { readonly message: string; readonly repair: string }): string {
  return `${message.split('\n', 1)[0]} ${repair}`;
}
