import type { Env } from '../contracts/env/check.ts';

/** The checked environment: the only form in which variables are known inside. */
export type Config = Env<'remote-mcp'>;
