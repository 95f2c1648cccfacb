import { BoundedMap } from '../../kit/bounded-map.ts';
import { Allowance } from '../limits/allowance.ts';
import { FairQueue } from '../limits/fair-queue.ts';
import { fetchDocument } from './metadata-document.ts';

/** Strangers name the documents. Each takes a connection for some seconds, and hosts take turns. */
const fetchLimits = { atOnce: 16, waitingMax: 64, waitingEachMax: 8, waitMaxMs: 2500 };
/** A document that is kept counts no more. Offices share an address. */
const allowance = { what: 'documents of agents', most: 30, periodMs: 10 * 60_000 };
const urlLengthMax = 300;
/** A document that failed is not asked for again so soon. */
const failedMs = 60_000;
const failedMax = 1000;

/** Fetches of Client ID Metadata Documents. Strangers choose the addresses, so fetches are few, and failures are remembered. */
export class DocumentFetches {
  readonly #queue = new FairQueue(fetchLimits);
  readonly #allowance = new Allowance(allowance);
  /** The end of each failure's time, by address. A whole host is not remembered: a stranger could name a wrong path of it. */
  readonly #failed = new BoundedMap<number>(failedMax);
  readonly #fetch: (url: string) => Promise<Response>;

  constructor(fetch: (url: string) => Promise<Response> = fetchDocument) {
    this.#fetch = fetch;
  }

  /** Throws `rate_limited`. The network is null where a signed-in person reads a document again. */
  isAdmitted(url: string, network: string | null, now = performance.now()): boolean {
    if (url.length > urlLengthMax || (this.#failed.get(url) ?? 0) > now) return false;
    if (network !== null) this.#allowance.use(network, now);
    return true;
  }

  /** A full queue is no failure of the document. */
  async fetch(url: string): Promise<Response> {
    return await this.#queue.run(new URL(url).host, () => this.#remembering(url));
  }

  async #remembering(url: string): Promise<Response> {
    let isGood = false;
    try {
      const response = await this.#fetch(url);
      isGood = response.status === 200;
      return response;
    } finally {
      if (!isGood) this.#failed.set(url, performance.now() + failedMs);
    }
  }
}
