import { hostOf } from './host-of.ts';

/** Whether the host of an address is on this machine only. */
export function isLoopbackServer(address: string): boolean {
  return isLoopback(hostOf(address));
}

/** Whether a listener on this host is reachable from this machine only. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\./.test(host);
}
