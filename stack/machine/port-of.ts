/** The port of an address, also the default one of http or https. */
export function portOf(address: string): number {
  const { port, protocol } = new URL(address);
  return Number(port) || (protocol === 'https:' ? 443 : 80);
}
