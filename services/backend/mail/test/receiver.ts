import type { Secret } from '../../../contracts/secret.ts';
import type { MailEngine } from '../mail-engine.ts';

/** A real receiver of mail, as an engine reaches it. */
export interface Receiver {
  /** What it has accepted. */
  readonly received: readonly Received[];
  /** How often an engine has begun to hand a mail over. */
  readonly attempts: number;
  /** What it does with the next attempts, one after the other. After that it accepts. */
  behave(...behaviours: readonly string[]): void;
  engine(options: EngineOptions): MailEngine;
  stop(): Promise<void>;
}

export interface EngineOptions {
  readonly key: Secret;
  readonly fromName?: string;
  readonly deadlineMs: number;
}

export interface Received {
  /** The id of the mail, as the receiver sees it. */
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  /** Everything, decoded. */
  readonly content: string;
  /** The names of header lines; empty without such. */
  readonly headers: readonly string[];
}

export const sender = 'svc@example.com';
export const rightKey = 'right-key-7e21';
