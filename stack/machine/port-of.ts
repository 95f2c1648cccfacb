/** The port that an address leads to, also where it is the usual one of http or https and not written. */
export function portOf(address: string): number {
  const { port, protocol } = new URL(address);
  return Number(port) || (protocol === 'https:' ? 443 : 80);
}
