import { runtimeOrEnd } from '../../../contracts/bus/ends.ts';
import { Budget } from '../../budget.ts';
import { payloadMaxBytes } from '../bus.ts';

/** Memory of incomplete questions: two of the largest for a runtime, four for a workspace. */
const shares = { runtime: 2 * payloadMaxBytes, workspace: 4 * payloadMaxBytes };
/** The same for all senders together. */
const unfinishedMaxBytes = 16 * payloadMaxBytes;

/** A question that can be dropped. */
export interface GivenUp {
  /** The end that sends it. */
  readonly asker: string;
  giveUp(): void;
}

interface Growing {
  readonly owner: Readonly<Record<keyof typeof shares, string>>;
  bytes: number;
}

/**
 * Bounds the memory of incomplete questions. A question that grows beyond its runtime's or workspace's share, or beyond
 * the free rest, is itself dropped. So a sender cannot push out another's questions.
 */
export class Unfinished {
  readonly #workspaceOf: (runtime: string) => string | undefined;
  readonly #growing = new Map<GivenUp, Growing>();
  readonly #budget = new Budget({
    ...{ what: 'bytes of unfinished requests', total: unfinishedMaxBytes, shares },
    hint: 'Try again shortly.',
  });

  /** A caller without a known workspace has a workspace's share for itself. */
  constructor(workspaceOf: (runtime: string) => string | undefined = () => undefined) {
    this.#workspaceOf = workspaceOf;
  }

  get bytes(): number {
    return this.#budget.held;
  }

  grew(question: GivenUp, bytes: number): void {
    const growing = this.#growing.get(question) ?? this.#begin(question);
    if (this.#budget.hasRoom(growing.owner, bytes)) {
      this.#budget.take(growing.owner, bytes);
      growing.bytes += bytes;
    } else {
      this.ended(question);
      question.giveUp();
    }
  }

  ended(question: GivenUp): void {
    const growing = this.#growing.get(question);
    if (growing === undefined) return;
    this.#growing.delete(question);
    this.#budget.give(growing.owner, growing.bytes);
  }

  #begin(question: GivenUp): Growing {
    const runtime = runtimeOrEnd(question.asker);
    const growing = { owner: { runtime, workspace: this.#workspaceOf(runtime) ?? runtime }, bytes: 0 };
    this.#growing.set(question, growing);
    return growing;
  }
}
