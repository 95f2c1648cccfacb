import type { Values } from './node-rules.ts';

/** A node as engines store it: its identity and the values of its fields. */
export interface NodeRecord {
  readonly type: string;
  readonly id: string;
  readonly version: number;
  /** Null for a type without a workspace. */
  readonly workspace: string | null;
  readonly values: Values;
}
