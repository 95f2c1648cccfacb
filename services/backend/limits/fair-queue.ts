import { SvcError } from '../../contracts/errors.ts';

export interface FairQueueOptions {
  /** Tasks that run at once. */
  readonly atOnce: number;
  /** Running tasks of one sender; absent: `atOnce`. */
  readonly runningEachMax?: number;
  readonly waitingMax: number;
  /** Waiting tasks of one sender. */
  readonly waitingEachMax: number;
  readonly waitMaxMs: number;
  /** The tasks, in words. */
  readonly what?: string;
}

interface Waiting {
  readonly begin: () => void;
  readonly refuse: () => void;
}

/** Runs a few tasks at once. Senders take turns, so a sender with many tasks delays another one by one task only. */
export class FairQueue {
  readonly #options: FairQueueOptions;
  /** The waiting tasks of each sender. The first sender has the next turn. */
  readonly #waiting = new Map<string, Waiting[]>();
  /** The numbers of running tasks by sender. */
  readonly #runningOf = new Map<string, number>();
  #waitingCount = 0;
  #running = 0;

  constructor(options: FairQueueOptions) {
    this.#options = options;
  }

  get #what(): string {
    return this.#options.what ?? 'sign-ins';
  }

  /** Throws `rate_limited` or `unavailable` if too many tasks wait; a full queue refuses the sender with the most. Throws `unavailable` if no turn comes in time. */
  async run<Result>(sender: string, task: () => Promise<Result>): Promise<Result> {
    if (this.#running < this.#options.atOnce && this.#mayRun(sender)) this.#enter(sender);
    else await this.#turn(sender);
    try {
      return await task();
    } finally {
      this.#leave(sender);
    }
  }

  #mayRun(sender: string): boolean {
    const { atOnce, runningEachMax = atOnce } = this.#options;
    return (this.#runningOf.get(sender) ?? 0) < runningEachMax;
  }

  #enter(sender: string): void {
    this.#running += 1;
    this.#runningOf.set(sender, (this.#runningOf.get(sender) ?? 0) + 1);
  }

  #turn(sender: string): Promise<void> {
    const { waitingMax, waitingEachMax, waitMaxMs } = this.#options;
    const own = this.#waiting.get(sender) ?? [];
    if (own.length >= waitingEachMax) {
      throw new SvcError('rate_limited', `Too many ${this.#what} of yours are waiting.`, { hint });
    }
    if (this.#waitingCount >= waitingMax) this.#refuseLargest(own.length);
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        this.#remove(sender, task);
        reject(busy(this.#what));
      }, waitMaxMs);
      const task = {
        begin: () => {
          clearTimeout(late);
          resolve();
        },
        refuse: () => {
          clearTimeout(late);
          reject(busy(this.#what));
        },
      };
      own.push(task);
      this.#waiting.set(sender, own);
      this.#waitingCount += 1;
    });
  }

  /** Refuses the last task of the sender with the most waiting ones. Throws if that is the new task's sender. */
  #refuseLargest(ownCount: number): void {
    const [largest] = [...this.#waiting].toSorted(([, one], [, other]) => other.length - one.length);
    const last = largest?.[1].at(-1);
    if (largest === undefined || last === undefined || largest[1].length <= ownCount + 1) throw busy(this.#what);
    this.#remove(largest[0], last);
    last.refuse();
  }

  #remove(sender: string, task: Waiting): void {
    const own = this.#waiting.get(sender) ?? [];
    own.splice(own.indexOf(task), 1);
    if (own.length === 0) this.#waiting.delete(sender);
    this.#waitingCount -= 1;
  }

  /** Gives the place to the sender whose turn it is. That sender's further tasks wait behind those of the others. */
  #leave(leaving: string): void {
    this.#running -= 1;
    const left = (this.#runningOf.get(leaving) ?? 0) - 1;
    if (left > 0) this.#runningOf.set(leaving, left);
    else this.#runningOf.delete(leaving);
    const next = [...this.#waiting].find(([waiting]) => this.#mayRun(waiting));
    if (next === undefined) return;
    const [sender, [first, ...others]] = next;
    this.#enter(sender);
    this.#waiting.delete(sender);
    if (others.length > 0) this.#waiting.set(sender, others);
    this.#waitingCount -= 1;
    first?.begin();
  }
}

const hint = 'Try again in some seconds.';

function busy(what: string): SvcError {
  return new SvcError('unavailable', `Too many ${what} are waiting.`, { hint });
}
