import type { EnvRecord } from '../contracts/env/check.ts';
import type { LogLevel } from '../contracts/env/variable.ts';
import { readEnv } from '../kit/env.ts';

export interface Config {
  readonly host: string;
  readonly port: number;
  readonly logLevel: LogLevel;
  /** The address of the backend for browsers; null: the address that the build compiled into the pages. */
  readonly backendUrl: string | null;
  /** The address for agents. */
  readonly mcpUrl: string;
  /** The address for agents with an API key, if that is another one. */
  readonly keysUrl: string | null;
}

export function readConfig(record: EnvRecord): { readonly config: Config; readonly warnings: readonly string[] } {
  const { env, warnings } = readEnv('frontend', record);
  // Its default is that of the build.
  const buildUrl = record.BUILD_PUBLIC_BACKEND_URL ? env.BUILD_PUBLIC_BACKEND_URL : null;
  return {
    config: {
      host: env.BIND_HOST,
      port: env.PORT,
      logLevel: env.LOG_LEVEL,
      backendUrl: env.PUBLIC_BACKEND_URL ?? buildUrl,
      mcpUrl: env.PUBLIC_MCP_URL,
      keysUrl: env.PUBLIC_MCP_KEYS_URL ?? null,
    },
    warnings,
  };
}
