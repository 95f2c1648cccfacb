/** The host of an address; the text itself if it is none. */
export function hostOf(address: string): string {
  return URL.canParse(address) ? new URL(address).host : address;
}
