import type { LogLevel } from '../../services/contracts/env/variable.ts';
import type { ServiceName } from '../../services/contracts/env/variables.ts';

/** What svc.yaml says, checked: every choice of an installation, and no secret. */
export interface Definition {
  /** Random, made by `svc init`: tells installations apart that share a host name (cookies ignore ports). */
  readonly id: string;
  readonly name: string;
  readonly topology: 'embedded' | 'distributed';
  readonly engine: 'process' | 'docker';
  readonly owner: { readonly email: string };
  /** The address that services listen on. */
  readonly bind: string;
  /** `auto` is the usual port or, where that is taken, the next free one. */
  readonly ports: Readonly<Record<ListenerName, Auto<number>>>;
  /** `auto` follows the port. */
  readonly publicUrls: { readonly backend: Auto<string>; readonly mcp: Auto<string>; readonly frontend: Auto<string> };
  readonly origins: {
    /** Of browsers that may call the backend. */
    readonly browsers: Auto<readonly string[]>;
    /** Of browsers that may speak to /mcp. */
    readonly agents: readonly string[];
    readonly preventDnsRebinding: boolean;
  };
  readonly runtime: {
    readonly name: string;
    readonly commands: 'any' | 'none' | readonly string[];
    readonly allowedPaths: readonly string[];
  };
  readonly limits: { readonly sessionIdleTimeoutMs: number; readonly fileSizeMaxMb: number };
  readonly mail: {
    readonly provider: 'log' | 'provider_a' | 'provider_b';
    readonly from: string | null;
    readonly fromName: string;
    readonly url: string | null;
    readonly timeoutSeconds: number;
  };
  readonly logs: {
    readonly level: LogLevel;
    readonly levels: string | null;
    readonly fileSizeMaxMb: number;
    readonly files: number;
  };
  /** Any other variable of the specification, by service. */
  readonly environment: Readonly<Record<ServiceName, Readonly<Record<string, string>>>>;
}

/** What listens on a port: the four services, under the names of `services[].name`. */
export const listeners = ['backend', 'remote-mcp', 'runtime', 'frontend'] as const;
export type ListenerName = (typeof listeners)[number];

export type Auto<Value> = Value | 'auto';
