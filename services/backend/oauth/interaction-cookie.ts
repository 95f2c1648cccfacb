import type { IncomingHttpHeaders } from 'node:http';
import { type AddressConfig, type Cookie, cookie, readCookie, writeCookie } from '../accounts/cookies.ts';

/** A person signs in and decides within this time. */
export const interactionSeconds = 600;

/**
 * Binds a request for access to the browser that began it. Otherwise somebody could begin one and send the address of
 * the page to a person, whose consent would then serve the sender.
 */
export function interactionCookie(backend: AddressConfig, uid: string): string {
  return writeCookie(cookieOf(backend, uid), uid, interactionSeconds);
}

export function hasInteraction(backend: AddressConfig, headers: IncomingHttpHeaders, uid: string): boolean {
  return readCookie(headers, cookieOf(backend, uid)) === uid;
}

/** Each interaction has a cookie of its own, so that two agents can be connected at the same time. */
function cookieOf(backend: AddressConfig, uid: string): Cookie {
  return cookie(backend, { use: `connect-${uid}`, sameSite: 'Lax' });
}
