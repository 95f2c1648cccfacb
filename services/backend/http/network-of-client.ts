import { createHmac, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { frontProofHeader, frontProofText } from '../../contracts/front-proof.ts';
import { clientAddress } from '../../kit/http/client-address.ts';
import { networkOf } from '../../kit/network-of.ts';
import type { WithConfig } from '../bus/with-bus.ts';

/** The client's network, by which failures and waiting work are counted. */
export type NetworkOfClient = (request: Pick<FastifyRequest, 'raw'>) => string;

export type FrontNeeds = WithConfig<'ENCRYPTION_KEY' | 'TRUSTED_PROXIES'>;

/** The platform's own proxy proves itself by a header, and the proxies of the operator by their addresses. */
export function createNetworkOfClient({ config }: FrontNeeds): NetworkOfClient {
  const { ENCRYPTION_KEY: key, TRUSTED_PROXIES: trustedProxies = [] } = config;
  const proof = Buffer.from(createHmac('sha256', key.reveal()).update(frontProofText).digest('hex'));
  return ({ raw }) => {
    const shown = Buffer.from([raw.headers[frontProofHeader] ?? ''].flat().join());
    const isFromFront = shown.length === proof.length && timingSafeEqual(shown, proof);
    return networkOf(clientAddress(raw, { trustedProxies, isFromFront }));
  };
}
