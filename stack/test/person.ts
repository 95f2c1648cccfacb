import { Browser } from '../../services/backend/test/browser.ts';
import { graphqlPath } from '../../services/contracts/token.ts';
import { createSignInLinkMutation } from '../client/generated/operations.ts';
import type { Platform } from './platform.ts';

/** A person who is signed in, in a browser without pages: it sends what the page of the consent sends. */
export class Person {
  readonly #browser: Browser;
  readonly #workspace: string;

  private constructor(browser: Browser, workspace: string) {
    this.#browser = browser;
    this.#workspace = workspace;
  }

  /** The owner of the first workspace. */
  static async signIn(platform: Platform, email = 'owner@localhost'): Promise<Person> {
    const at = (service: 'backend' | 'frontend') => `http://localhost:${platform.ports[service]}`;
    const browser = new Browser(at('backend'), { origin: at('frontend') });
    const { createSignInLink } = await (await platform.backend()).send(createSignInLinkMutation, { email });
    const token = new URL(createSignInLink.url).hash.slice('#token='.length);
    const { status, text } = await browser.post('/account/link', { token });
    if (status !== 200) throw new Error(`the sign-in answered ${status}: ${text}`);
    return new Person(browser, await platform.workspace());
  }

  /** Sends a request as the pages do. */
  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of it
  async graphql(query: string, variables: object = {}): Promise<any> {
    const { body } = await this.#browser.post(graphqlPath, {
      query,
      variables: { workspace: this.#workspace, ...variables },
    });
    if (body.errors !== undefined) throw new Error(JSON.stringify(body.errors));
    return body.data;
  }

  /** Opens the address to which an agent sends its person. Returns what the page of the consent shows. */
  async open(address: string) {
    const { pathname, search } = new URL(address);
    const { status, location, text } = await this.#browser.get(pathname + search);
    if (status !== 303) throw new Error(`the request of the agent was answered with ${status}: ${text}`);
    const path = `/connect/interaction/${new URL(location).pathname.split('/').at(-1)}`;
    const { body } = await this.#browser.post(path, {});
    return { path, shown: body };
  }

  /** Returns the address to which the browser goes back. */
  async answer(address: string, answer: 'consent' | 'refuse' = 'consent', scope = 'tools'): Promise<URL> {
    const { path } = await this.open(address);
    const choice = answer === 'consent' ? { workspace: this.#workspace, roles: null, scope } : {};
    const { status, body, text } = await this.#browser.post(`${path}/${answer}`, choice);
    if (status !== 200) throw new Error(`the ${answer} answered ${status}: ${text}`);
    return new URL((await this.#browser.get(new URL(body.redirect).pathname)).location);
  }
}
