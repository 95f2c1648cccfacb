import { networkInterfaces } from 'node:os';

/** Not every machine has IPv6, and containers often have none. */
const hasIpv6 = Object.values(networkInterfaces()).some((found) => found?.some(({ address }) => address === '::1'));

/** A second loopback address, and its form in a URL. */
export const secondLoopback = hasIpv6
  ? ({ host: '::1', inUrl: '[::1]' } as const)
  : ({ host: '127.0.0.2', inUrl: '127.0.0.2' } as const);
