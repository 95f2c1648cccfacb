import type { EnvRecord } from '../../../services/contracts/env/check.ts';
import type { Plan } from '../../plan/plan.ts';
import type { Installation } from '../../state/installation.ts';

export interface Examined {
  readonly installation: Installation;
  /** The environment of this shell. */
  readonly env: EnvRecord;
  readonly signal: AbortSignal;
}

/** An examined installation with a valid svc.yaml. */
export interface Planned extends Examined {
  readonly plan: Plan;
}

/** The result of one check. */
export interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'failed';
  readonly detail: string;
  /** What to do about it; null when all is well. */
  readonly repair: string | null;
}

export type Found = Omit<Finding, 'check'>;

export function ok(detail: string): Found {
  return { state: 'ok', detail, repair: null };
}

/** The platform works, but support would ask about it. */
export function warning(detail: string, repair: string): Found {
  return { state: 'warning', detail, repair };
}

export function failed(detail: string, repair: string): Found {
  return { state: 'failed', detail, repair };
}
