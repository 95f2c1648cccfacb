import type { Env } from '../contracts/env/check.ts';

/** The backend's checked environment: the only form in which its variables are known inside. */
export type Config = Env<'backend'>;
