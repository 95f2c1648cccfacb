import { lookup as systemLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isIP } from 'node:net';
import type { AddressRule } from './address-rule.ts';

/** A connection that the address rule does not allow. */
export class AddressRefused extends Error {
  readonly code = 'ERR_ADDRESS_REFUSED';
  /** What the member who wrote the host may know. */
  readonly what: string;

  /** `message` is for operators. */
  constructor(what: string, message: string, cause?: unknown) {
    super(message, { cause });
    this.what = what;
  }
}

/** Node asks no lookup about a host that is an address already. */
export function judgeLiteral(rule: AddressRule, hostname: string): void {
  const address = hostname.replace(/^\[(.*)\]$/, '$1');
  const kind = isIP(address) === 0 ? null : rule(address);
  if (kind !== null) throw new AddressRefused(`${address}, which is ${kind}`, `${address} is ${kind}`);
}

/**
 * A lookup that gives only allowed addresses. It is asked for each connection, and the connection goes to an address that it gave, so a name
 * cannot lead elsewhere after it was judged.
 */
export function createJudgedLookup(rule: AddressRule, lookup: typeof systemLookup = systemLookup): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      const allowed = error === null ? found.filter(({ address }) => rule(address) === null) : [];
      const [first] = allowed;
      if (first === undefined) callback(noneAllowed(rule, hostname, error ?? found), '');
      else if (options.all === true) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
}

/** The same words for a name without an address and one with private addresses: the difference would tell which internal names exist. */
function noneAllowed(rule: AddressRule, hostname: string, found: Error | readonly { address: string }[]): Error {
  const what = `${hostname}, which has no public address`;
  if (found instanceof Error) return new AddressRefused(what, `${hostname} was not resolved`, found);
  const kinds = found.slice(0, shownMax).map(({ address }) => `${address} is ${rule(address)}`);
  return new AddressRefused(what, `${hostname} has no allowed address: ${kinds.join(', ')}`);
}

/** A log line stays one line, however many addresses a name has. */
const shownMax = 5;
