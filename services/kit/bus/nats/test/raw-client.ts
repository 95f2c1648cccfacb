import { connect, headers as newHeaders } from '@nats-io/transport-node';
import type { ProcessId } from '../../../../contracts/ids.ts';
import type { Credentials } from '../../bus.ts';
import type { RawClient } from '../../contract/raw-client.ts';
import { connectionName, loginOf, newInbox } from '../login.ts';

/** Speaks NATS with the given key and without our client. */
export async function connectRaw(url: string, credentials: Credentials, process: ProcessId): Promise<RawClient> {
  if (credentials.kind === 'backend') throw new Error('a backend has no key');
  const inboxPrefix = newInbox();
  const name = connectionName(process, inboxPrefix);
  const connection = await connect({ servers: url, ...loginOf(credentials), name, inboxPrefix, reconnect: false });
  return {
    say(subject, { kind, payload = new Uint8Array(0), headers, id, reply }) {
      if (connection.isClosed()) return;
      const own = newHeaders();
      if (kind !== null) own.set('Svc-Frame', kind);
      if (headers !== undefined) own.set('Svc-Headers', JSON.stringify(headers));
      if (id !== undefined) own.set('Svc-Message', id);
      connection.publish(subject, payload, {
        ...(kind === null ? {} : { headers: own }),
        ...(reply === undefined ? {} : { reply }),
      });
    },
    hear(pattern, handle) {
      connection.subscribe(pattern, {
        callback: (error, { subject, data, reply = '' }) => {
          if (error === null) handle({ subject, payload: data, headers: {}, reply });
        },
      });
    },
    reached: () => connection.flush(),
    ended: connection.closed().then(() => undefined),
  };
}
