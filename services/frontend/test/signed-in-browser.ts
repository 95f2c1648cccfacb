import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type BrowserContext, type Browser as Chromium, chromium, type Page } from 'playwright-core';
import { createSignInLinkMutation } from '../../../stack/client/generated/operations.ts';
import { chromiumPath } from '../../../stack/test/browser.ts';
import type { Platform } from '../../../stack/test/platform.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** The time for anything that the pages do. */
export const patience = { timeout: 20_000 };
/** A change by another person is on the screen within this time, on a busy machine. */
export const soon = { timeout: 5000 };

/** Chromium, in which the owner of a platform is signed in. */
export class SignedInBrowser implements AsyncDisposable {
  readonly platform: Platform;
  /** The owner is signed in in it. */
  readonly context: BrowserContext;
  readonly page: Page;
  /** Errors and refusals of the content security policy, in all pages. A test expects none at the end. */
  readonly complaints: string[];
  readonly #browser: Chromium;

  private constructor(parts: Pick<SignedInBrowser, 'platform' | 'context' | 'page' | 'complaints'>, browser: Chromium) {
    this.platform = parts.platform;
    this.context = parts.context;
    this.page = parts.page;
    this.complaints = parts.complaints;
    this.#browser = browser;
  }

  /** The browser ends the platform with itself. */
  static async open(platform: Platform): Promise<SignedInBrowser> {
    const browser = await chromium.launch({
      executablePath: chromiumPath,
      args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
    });
    const complaints: string[] = [];
    const context = await newContext(browser, complaints);
    const opened = new SignedInBrowser({ platform, context, page: await context.newPage(), complaints }, browser);
    await opened.page.goto(await opened.signInLink());
    await opened.page.waitForURL(/\/w\//, patience);
    return opened;
  }

  /** A browser of somebody who is not signed in. */
  async newContext(look: Look = {}): Promise<BrowserContext> {
    return await newContext(this.#browser, this.complaints, look);
  }

  /** A browser of the owner, as large and as bright as asked for. */
  async newContextOfOwner(look: Look): Promise<BrowserContext> {
    return await newContext(this.#browser, this.complaints, {
      ...look,
      storageState: await this.context.storageState(),
    });
  }

  /**
   * The flaws of a page of the owner at each width, dark and light. Loading a page takes longer than looking at it, so
   * it is loaded once, at the smallest width, and in the owner's browser, which has its code.
   */
  async flawsOf(path: string, isThere: (looked: Page) => Promise<unknown> = hasHeading): Promise<readonly string[]> {
    await using looked = await this.context.newPage();
    await look(looked, 'dark', widths[0]);
    await looked.goto(path.startsWith('http') ? path : (await this.places()) + path);
    await isThere(looked);
    await looked.waitForTimeout(400);
    const flaws: string[] = [];
    for (const colorScheme of ['dark', 'light'] as const) {
      for (const width of widths) {
        await look(looked, colorScheme, width);
        await looked.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
        const [barriers, overflow] = [await barriersIn(looked), await overflowOf(looked)];
        if (String(barriers) !== '') flaws.push(`${path}, ${colorScheme} at ${width}: ${barriers}`);
        if (overflow !== 0) flaws.push(`${path}, ${colorScheme} at ${width}: ${overflow} pixels too wide`);
      }
    }
    return flaws;
  }

  /** A link that signs a person in, by default the owner. */
  async signInLink(email = 'owner@localhost'): Promise<string> {
    const backend = await this.platform.backend();
    const { createSignInLink } = await backend.send(createSignInLinkMutation, { email });
    return createSignInLink.url;
  }

  get origin(): string {
    return `http://localhost:${this.platform.ports.frontend}`;
  }

  /** The address below which the places of the workspace are. */
  async places(): Promise<string> {
    return `${this.origin}/w/${await this.platform.workspace()}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close();
    await this.platform[Symbol.asyncDispose]();
  }
}

/** Those of a phone, a tablet and a desk. */
const widths = [390, 820, 1440] as const;

async function look(looked: Page, colorScheme: 'light' | 'dark', width: number): Promise<void> {
  await looked.emulateMedia({ colorScheme });
  await looked.setViewportSize({ width, height: 900 });
}

const hasHeading = (looked: Page) => looked.getByRole('heading', { level: 1 }).waitFor();

interface Look {
  readonly colorScheme?: 'light' | 'dark';
  readonly width?: number;
  readonly storageState?: Awaited<ReturnType<BrowserContext['storageState']>>;
}

async function newContext(browser: Chromium, complaints: string[], look: Look = {}): Promise<BrowserContext> {
  const { width = 1440, colorScheme = 'light', ...rest } = look;
  const made = await browser.newContext({ ...rest, colorScheme, viewport: { width, height: 900 } });
  made.setDefaultTimeout(patience.timeout);
  made.on('weberror', (error) => complaints.push(String(error.error())));
  made.on('console', (message) => {
    if (/Content Security Policy/.test(message.text())) complaints.push(message.text());
  });
  return made;
}

/** What axe finds on a page, after its animations: in the middle of one, colours are paler. */
export async function barriersIn(looked: Page): Promise<unknown> {
  await looked.evaluate(`Promise.allSettled(document.getAnimations().flatMap((one) =>
    one.effect.getComputedTiming().endTime === Infinity ? [] : [one.finished]))`);
  if (!(await looked.evaluate('"axe" in window'))) await looked.evaluate(axe);
  // axe would otherwise also describe each element without a flaw, which takes longer than finding the flaws.
  const options = "{ rules: { region: { enabled: false } }, resultTypes: ['violations'] }";
  return await looked.evaluate(`axe.run(document, ${options}).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 200)).join(' | ')))`);
}

/** How much wider than its window a page is. */
export async function overflowOf(looked: Page): Promise<unknown> {
  return await looked.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
}
