import type { Env } from '../contracts/env/check.ts';

/** The backend's checked environment, the only form in which its code reads variables. */
export type Config = Env<'backend'>;
