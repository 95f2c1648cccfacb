import { z } from 'zod';
import type { ReadyCheck } from '../parts/part.ts';
import { readSecret } from '../secrets/secrets.ts';

/** A node's report of its own health, as on the page /healthz of its monitoring. */
const report = z.object({ data: z.object({ status: z.string(), error: z.string().default('It does not say why.') }) });

/** A node that does not answer within this time counts as not ready. */
const answerTimeoutMs = 2000;

/**
 * Asks a node of this machine for its health, as the user of the system account. Null when the node is ready, else the
 * reason. Throws when it does not answer, or refuses the user.
 */
export async function missingOfNats({ url, seedFile }: Extract<ReadyCheck, { kind: 'nats' }>): Promise<string | null> {
  const { askNats } = await import('./ask-nats.ts');
  // The certificate is for another name than this machine's own address, and the seed signs a nonce and is never sent.
  const tls = url.startsWith('tls:') ? { tls: { rejectUnauthorized: false } } : {};
  const login = { server: url, seed: readSecret(seedFile), timeoutMs: answerTimeoutMs, ...tls };
  const { status, error } = await askNats(login, async (connection) => {
    const subject = `$SYS.REQ.SERVER.${connection.info?.server_id}.HEALTHZ`;
    return report.parse((await connection.request(subject, '{}', { timeout: answerTimeoutMs })).json()).data;
  });
  return status === 'ok' ? null : error;
}
