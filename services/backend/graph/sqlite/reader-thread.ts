import { Worker } from 'node:worker_threads';
import { SvcError } from '../../../contracts/errors.ts';
import { type Answer, type Answers, type Question, toError } from './reader-messages.ts';

interface PendingAnswer {
  settle(answer: Answer): void;
  fail(error: SvcError): void;
}

/** Reads are bounded by pages: one that takes longer waits for a silent disk. */
const answerMs = 30_000;
const askedMax = 1000;
/** A thread takes about 20 MB, so an idle platform ends it. */
const idleMs = 20_000;

/** The thread for reads that may take long, so that they do not block the main thread. It ends when idle. */
export class ReaderThread {
  readonly #file: string;
  #worker: Worker | null = null;
  /** Waiting questions. Answers come in the same order. */
  #asked: PendingAnswer[] = [];
  #idle: NodeJS.Timeout | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  #start(): Worker {
    if (this.#worker !== null) return this.#worker;
    // The build knows this form: in dist/ it names the bundle of the same file, and from source Node strips the types.
    const worker = new Worker(new URL('./sqlite-reader.worker.ts', import.meta.url), {
      workerData: this.#file,
      // Options of the process (--require, --input-type, a test runner's loader) do not apply to this thread.
      execArgv: [],
      // Pages pass through and are not kept, so more room would only stay allocated (32 MB of resident memory).
      resourceLimits: { maxYoungGenerationSizeMb: 8 },
    });
    worker.on('message', (answer: Answer) => {
      if (this.#worker === worker) this.#asked.shift()?.settle(answer);
    });
    worker.on('error', (cause) => this.#lost(worker, cause));
    worker.on('exit', () => this.#lost(worker, undefined));
    this.#worker = worker;
    return worker;
  }

  ask<Kind extends Question['kind']>(question: Question & { readonly kind: Kind }): Promise<Answers[Kind]> {
    if (this.#asked.length >= askedMax && question.kind !== 'close') {
      return Promise.reject(new SvcError('unavailable', `${askedMax} reads are waiting already: try again later.`));
    }
    return new Promise((resolve, reject) => {
      const late = () => reject(new SvcError('timeout', `The graph did not answer within ${answerMs / 1000} s.`));
      const timer = setTimeout(late, answerMs);
      this.#asked.push({
        settle(answer) {
          clearTimeout(timer);
          // The order of the answers tells which question each belongs to.
          if ('result' in answer) resolve(answer.result as Answers[Kind]);
          else reject(toError(answer.failure));
        },
        fail(error) {
          clearTimeout(timer);
          reject(error);
        },
      });
      this.#start().postMessage(question);
      clearTimeout(this.#idle);
      this.#idle = setTimeout(() => this.#rest(), idleMs).unref();
    });
  }

  /** Ends the thread after the waiting questions. */
  async close(): Promise<void> {
    const worker = this.#worker;
    if (worker === null) return;
    clearTimeout(this.#idle);
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    await this.ask({ kind: 'close' }).catch(() => worker.terminate());
    await ended;
  }

  /** Ends the thread. A question that arrives meanwhile starts another one. */
  #rest(): void {
    const worker = this.#worker;
    if (worker === null || this.#asked.length > 0) return;
    this.#worker = null;
    worker.postMessage({ kind: 'close' } satisfies Question);
  }

  /** The next question starts a new thread. */
  #lost(worker: Worker, cause: unknown): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    const error = new SvcError('unavailable', 'The thread that reads the graph has ended.', { cause });
    for (const asked of this.#asked.splice(0)) asked.fail(error);
  }
}
