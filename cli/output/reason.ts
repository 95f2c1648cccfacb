/** Why something is not as it should be, and what mends it, for a line of its own: of last words it quotes the first. */
export function briefly({ message, repair }: { readonly message: string; readonly repair: string }): string {
  const [what = '', firstWords, ...more] = message.split(/\s*\n\s*/);
  const quoted = firstWords === undefined ? '' : ` "${firstWords}"${more.length === 0 ? '.' : ' …'}`;
  return `${what}${quoted} ${repair}`;
}
