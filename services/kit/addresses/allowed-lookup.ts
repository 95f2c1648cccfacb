import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { AddressRefused } from './address-refused.ts';
import type { AddressRule } from './address-rule.ts';

/** Gives the addresses of a name, at least one, or rejects. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

/** A name may have thousands, and each one is checked. */
const addressesMax = 32;

/**
 * A lookup that gives only allowed addresses. Every connection uses it and goes to an address it gave, so a name cannot
 * lead elsewhere after the check. Each MCP server has its own lookup with one query at a time: concurrent connections
 * share the answer.
 */
export function createAllowedLookup(rule: AddressRule, resolve: Resolve): LookupFunction {
  const asked = new Map<string, ReturnType<Resolve>>();
  const resolveOnce = (hostname: string) => {
    const answer = asked.get(hostname) ?? resolve(hostname).finally(() => asked.delete(hostname));
    asked.set(hostname, answer);
    return answer;
  };
  const allowedOf = async (hostname: string) => {
    const found = (await resolveOnce(hostname)).slice(0, addressesMax);
    const allowed = found.filter(({ address }) => rule(address) === null);
    if (allowed.length === 0) throw noneAllowed(rule, hostname, found);
    return allowed;
  };
  return (hostname, { all = false }, callback) => {
    allowedOf(hostname).then(
      (allowed) => {
        const [{ address, family } = { address: '', family: 4 }] = allowed;
        if (all) callback(null, allowed);
        else callback(null, address, family);
      },
      (error: Error) => callback(error instanceof AddressRefused ? error : notResolved(hostname, error), ''),
    );
  };
}

/**
 * The same message for a name without an address and one with private addresses: a difference would reveal which
 * internal names exist.
 */
function inWordsOf(hostname: string): string {
  return `${hostname}, which has no public address`;
}

function notResolved(hostname: string, cause: Error): AddressRefused {
  return new AddressRefused(inWordsOf(hostname), `${hostname} was not resolved`, cause);
}

function noneAllowed(rule: AddressRule, hostname: string, found: readonly LookupAddress[]): AddressRefused {
  const kinds = found.slice(0, shownMax).map(({ address }) => `${address} is ${rule(address)}`);
  return new AddressRefused(inWordsOf(hostname), `${hostname} has no allowed address: ${kinds.join(', ')}`);
}

/** Keeps a log line short, however many addresses a name has. */
const shownMax = 5;
