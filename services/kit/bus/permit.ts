import { allows, type Identity, type Permissions, permissionsOf } from '../../contracts/bus/permissions.ts';
import { SvcError } from '../../contracts/errors.ts';
import { checkPattern, checkSubject } from './check-subject.ts';

/** Subjects whose permission is remembered. */
const permittedMax = 20_000;

/**
 * Checks the permissions of a connection before it acts. Every check throws `forbidden`, or `invalid_input` for a
 * malformed subject.
 */
export class Permit {
  readonly #identity: Identity;
  readonly #permissions: Permissions;
  readonly #maySay = new Set<string>();

  constructor(identity: Identity) {
    this.#identity = identity;
    this.#permissions = permissionsOf(identity);
  }

  checkMaySay(subject: string): void {
    if (this.#maySay.has(subject)) return;
    checkSubject(subject);
    if (!allows(this.#permissions.publish, subject)) throw this.#forbidden(`send to "${subject}"`);
    if (this.#maySay.size >= permittedMax) this.#maySay.clear();
    this.#maySay.add(subject);
  }

  checkMayHear(pattern: string): void {
    checkPattern(pattern);
    if (!allows(this.#permissions.subscribe, pattern)) throw this.#forbidden(`listen to "${pattern}"`);
  }

  checkMayUseStream(name: string): void {
    if (!this.#permissions.streams.includes(name)) throw this.#forbidden(`use the stream "${name}"`);
  }

  checkMayUseBucket(name: string): void {
    if (!this.#permissions.buckets.includes(name)) throw this.#forbidden(`use the bucket "${name}"`);
  }

  checkIsBackend(what: string): void {
    if (this.#identity.kind !== 'backend') throw this.#forbidden(what);
  }

  #forbidden(what: string): SvcError {
    return new SvcError('forbidden', `A ${this.#identity.kind} may not ${what} on the bus.`);
  }
}
