import { graphqlPath } from '../../contracts/token.ts';

/** The cookies and origin of one browser, in front of a real backend. */
export class Browser {
  readonly cookies = new Map<string, { readonly value: string; readonly attributes: string }>();
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(url: string, headers: Readonly<Record<string, string>> = {}) {
    this.#url = url;
    this.#headers = { origin: 'http://localhost:8888', ...headers };
  }

  /** The name of a cookie: its beginning depends on the address of the backend. */
  nameOf(use: 'access' | 'refresh'): string {
    return [...this.cookies.keys()].find((name) => name.endsWith(use)) ?? '';
  }

  copy(headers: Readonly<Record<string, string>> = {}): Browser {
    const copy = new Browser(this.#url, { ...this.#headers, ...headers });
    for (const [name, cookie] of this.cookies) copy.cookies.set(name, cookie);
    return copy;
  }

  /** As after a click, without following a redirect. The path decides which cookies are sent. */
  async get(path: string) {
    const response = await fetch(this.#url + path, { headers: this.#cookiesFor(path), redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) this.#keep(line);
    const { status, headers } = response;
    return { status, headers, location: headers.get('location') ?? '', text: await response.text() };
  }

  async post(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) {
    const sent = { 'content-type': 'application/json', ...this.#headers, ...this.#cookiesFor(path), ...headers };
    const response = await fetch(this.#url + path, {
      method: 'POST',
      headers: Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== '')),
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    for (const line of response.headers.getSetCookie()) this.#keep(line);
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: text === '' ? null : JSON.parse(text) };
  }

  /** Null for a cookie's caller who is not signed in, else the address of the person. */
  async signedInAs(): Promise<string | null> {
    const { status, body } = await this.post(graphqlPath, { query: '{ viewer { id } }' });
    return status === 200 ? body.data.viewer.id : null;
  }

  #cookiesFor(path: string): { readonly cookie?: string } {
    const sent = [...this.cookies].filter(([, { attributes }]) => isFor(attributes, path));
    return sent.length === 0 ? {} : { cookie: sent.map(([name, { value }]) => `${name}=${value}`).join('; ') };
  }

  #keep(line: string): void {
    const [pair = '', ...attributes] = line.split('; ');
    const [name = '', value = ''] = pair.split('=', 2);
    if (attributes.includes('Max-Age=0')) this.cookies.delete(name);
    else this.cookies.set(name, { value, attributes: attributes.join('; ') });
  }
}

/** RFC 6265 §5.1.4. */
function isFor(attributes: string, path: string): boolean {
  const [, of = '/'] = /(?:^|; )path=([^;]*)/i.exec(attributes) ?? [];
  return of === '/' || path === of || path.startsWith(`${of}/`) || path.startsWith(`${of}?`);
}
