import { heartbeat } from '../../contracts/bus/messages.ts';
import { patterns, tokensOf } from '../../contracts/bus/subjects.ts';
import { findId, findProcessId, type ProcessId, type RuntimeId } from '../../contracts/ids.ts';
import type { Bus, Message } from '../../kit/bus/bus.ts';
import { RuntimeProcess } from './runtime-process.ts';

/** The shortest heartbeat interval is 50 ms (HEARTBEAT_INTERVAL). */
const lookEveryMs = 100;
/** A check that runs this late means that this process was busy. Heartbeats wait in the same queue and are read first. */
const lateLookMs = 400;
/**
 * Ended processes are remembered: a catalogue may still name them, and they may return after an outage. Each start of a
 * runtime adds a process, so their number is bounded.
 */
const rememberedMax = 2000;

/** The processes of all runtimes. Heartbeats and the backend's reports of ended connections tell which are alive. */
export class RuntimeProcesses {
  /** By runtime and process, so that a process of one runtime cannot speak for a process of another. */
  readonly #all = new Map<string, RuntimeProcess>();
  readonly #onChange: () => void;
  #timer: NodeJS.Timeout | null = null;
  #lookedAt = 0;
  #isConnected = true;

  /** `onChange` is called when a process ends, again a while later, and when it returns. */
  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  listen(bus: Bus): void {
    bus.subscribe(patterns.heartbeat, (message) => this.#heard(message));
    bus.subscribe(patterns.gone, (message) => this.#ended(message));
    bus.onConnection((state) => this.#connected(state === 'connected'));
  }

  start(): void {
    this.#timer = setInterval(() => this.#look(performance.now()), lookEveryMs).unref();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  of(runtime: RuntimeId, process: ProcessId): RuntimeProcess {
    const name = nameOf(runtime, process);
    const known = this.#all.get(name);
    if (known !== undefined) return known;
    if (this.#all.size >= rememberedMax) this.#forgetOne();
    const made = new RuntimeProcess(runtime, process);
    this.#all.set(name, made);
    return made;
  }

  #heard({ subject, payload }: Message): void {
    const sender = senderOf(patterns.heartbeat, subject);
    const parsed = heartbeat.safeParse(parse(payload));
    if (sender === null || !parsed.success) return;
    const process = this.of(sender.runtime, sender.process);
    const wasThere = process.isThere;
    process.heard(performance.now(), parsed.data);
    if (!wasThere) this.#onChange();
  }

  #ended({ subject }: Message): void {
    const sender = senderOf(patterns.gone, subject);
    const process = sender === null ? undefined : this.#all.get(nameOf(sender.runtime, sender.process));
    if (process?.isThere) this.#take(process);
  }

  /** Without a connection no heartbeat can arrive, so silence counts from the reconnect. A call to a process that ended meanwhile fails at once. */
  #connected(isConnected: boolean): void {
    this.#isConnected = isConnected;
    if (!isConnected) return;
    const now = performance.now();
    for (const process of this.#all.values()) process.pardon(now);
  }

  #take(process: RuntimeProcess): void {
    process.gone();
    this.#onChange();
  }

  #look(now: number): void {
    const isLate = now - this.#lookedAt > lateLookMs;
    this.#lookedAt = now;
    if (isLate || !this.#isConnected) return;
    for (const process of this.#all.values()) {
      if (process.isThere && process.isSilent(now)) this.#take(process);
      else if (process.settle(now)) this.#onChange();
    }
  }

  /** Forgets the oldest ended process. */
  #forgetOne(): void {
    for (const [name, process] of this.#all) {
      if (process.isThere) continue;
      this.#all.delete(name);
      return;
    }
  }
}

function nameOf(runtime: RuntimeId, process: ProcessId): string {
  return `${runtime}.${process}`;
}

function senderOf(pattern: string, subject: string): { runtime: RuntimeId; process: ProcessId } | null {
  const [, , first = '', second = ''] = tokensOf(pattern, subject) ?? [];
  const runtime = findId('runtime', first);
  const process = findProcessId(second);
  return runtime === null || process === null ? null : { runtime, process };
}

function parse(payload: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(payload).toString());
  } catch {
    return null;
  }
}
