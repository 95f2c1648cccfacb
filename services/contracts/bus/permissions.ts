import type { KeyId, ProcessId, RuntimeId, WorkspaceId } from '../ids.ts';
import { blobSubjects, matches, patterns } from './subjects.ts';

/** The identity of a connection to the bus, decided when it connects and constant for its life. */
export type Identity =
  | { readonly kind: 'backend'; readonly process: ProcessId }
  | { readonly kind: 'remote-mcp'; readonly process: ProcessId }
  | {
      readonly kind: 'runtime';
      readonly process: ProcessId;
      readonly runtime: RuntimeId;
      readonly name: string;
      /** The workspace of a customer's runtime; null for the platform's own, which serves all. */
      readonly workspace: WorkspaceId | null;
      /** The runtime key of the connection, which can be revoked separately; absent for a system key. */
      readonly key?: KeyId;
    };

export type RuntimeIdentity = Extract<Identity, { kind: 'runtime' }>;

export interface Permissions {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
  readonly streams: readonly string[];
  readonly buckets: readonly string[];
}

/**
 * The subjects each identity may publish on and subscribe to: enforced by the in-process engine, signed into NATS user
 * tokens.
 */
export function permissionsOf(identity: Identity): Permissions {
  switch (identity.kind) {
    case 'backend':
      return {
        publish: [
          ...['svc.runtime.*.*.command', 'svc.event.>', 'svc.gone.*.*', 'svc.session.*'],
          ...[patterns.accounts, blobSubjects.all],
        ],
        subscribe: [
          ...['svc.identity.>', patterns.heartbeat, patterns.report, patterns.gone],
          ...[patterns.events, patterns.accounts],
        ],
        streams: ['usage'],
        buckets: [],
      };
    case 'remote-mcp':
      return {
        publish: [
          'svc.runtime.*.*.call',
          `svc.identity.hello.${identity.process}`,
          `svc.identity.key.${identity.process}`,
          'svc.session.*',
        ],
        subscribe: ['svc.event.>', patterns.accounts, patterns.heartbeat, patterns.gone, 'svc.session.*'],
        streams: ['usage'],
        buckets: ['sessions'],
      };
    case 'runtime': {
      const own = `${identity.runtime}.${identity.process}`;
      return {
        publish: [`svc.identity.handshake.${own}`, `svc.heartbeat.${own}`, `svc.report.${own}`],
        subscribe: [`svc.runtime.${own}.call`, `svc.runtime.${own}.command`],
        streams: [],
        buckets: [],
      };
    }
  }
}

export function allows(permitted: readonly string[], subject: string): boolean {
  return permitted.some((pattern) => matches(pattern, subject));
}
