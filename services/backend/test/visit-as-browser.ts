/**
 * Goes from an address of the provider on as a browser would, with cookies, until the provider sends it elsewhere.
 * Returns the address there.
 */
export async function visitAsBrowser(issuer: string, address: string): Promise<URL> {
  const cookies = new Map<string, string>();
  for (let at = new URL(address), i = 0; i < 10; i++) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const page = await fetch(at, { redirect: 'manual', headers: { cookie } });
    for (const line of page.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const to = page.headers.get('location');
    if (to === null) throw new Error(`the provider answered ${page.status}: ${await page.text()}`);
    at = new URL(to, at);
    if (at.origin !== issuer) return at;
  }
  throw new Error('the provider sends the browser in a circle');
}
