import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';

/** A working name server answers in a fraction of a second. */
const resolver = { timeout: 1500, tries: 2 };
/** For all name servers and tries together. */
const resolveMaxMs = 5000;

/**
 * Resolves a name with the name servers of this machine only. The system's lookup (getaddrinfo) blocks one of the
 * runtime's two lookup threads until the name server answers: one member could block both.
 */
export async function resolveByDns(hostname: string): Promise<readonly LookupAddress[]> {
  if (localhost.test(hostname)) return loopback;
  // A new resolver reads the current name servers.
  const names = new Resolver(resolver);
  const deadline = setTimeout(() => names.cancel(), resolveMaxMs);
  const asked = [names.resolve4(hostname), names.resolve6(hostname)] as const;
  const [four, six] = await Promise.allSettled(asked).finally(() => clearTimeout(deadline));
  const found = [...addressesOf(four, 4), ...addressesOf(six, 6)];
  if (found.length === 0 && four.status === 'rejected') throw four.reason;
  return found;
}

/** RFC 6761 §6.3: such a name is never sent to a name server. */
const localhost = /^(.+\.)?localhost\.?$/i;
const loopback: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

function addressesOf(answer: PromiseSettledResult<string[]>, family: 4 | 6): readonly LookupAddress[] {
  return answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family })) : [];
}
