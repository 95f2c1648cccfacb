import { isIP } from 'node:net';
import type { AddressRule } from './address-rule.ts';

/** A connection that the address rule does not allow. */
export class AddressRefused extends Error {
  readonly code = 'ERR_ADDRESS_REFUSED';
  /** The part that the member who wrote the host may see. */
  readonly what: string;

  /** `message` is for operators. */
  constructor(what: string, message: string, cause?: unknown) {
    super(message, { cause });
    this.what = what;
  }
}

/** Throws when a host is an address that the rule does not allow. Node does no lookup for such a host. */
export function refuseAddress(rule: AddressRule, hostname: string): void {
  const address = hostname.replace(/^\[(.*)\]$/, '$1');
  const kind = isIP(address) === 0 ? null : rule(address);
  if (kind !== null) throw new AddressRefused(`${address}, which is ${kind}`, `${address} is ${kind}`);
}
