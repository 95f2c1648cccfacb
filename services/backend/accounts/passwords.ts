import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { normalisePassword } from '../../contracts/password-rule.ts';
import type { Secret } from '../../contracts/secret.ts';
import { FairQueue } from '../limits/fair-queue.ts';

/** A verification takes a quarter of a second of one processor and 32 MiB. Two leave threads to files and other work. */
const queueOptions = { atOnce: 2, waitingMax: 256, waitingEachMax: 8, waitMaxMs: 5_000 };

/** How a password is stored: the cost of scrypt (RFC 7914 §2) as exponent of N, r and p. */
export interface Cost {
  readonly ln: number;
  readonly r: number;
  readonly p: number;
}

/** OWASP, Password Storage Cheat Sheet: scrypt with N=2^15, r=8, p=3. Raising it rehashes each password at its next use. */
const presentCost: Cost = { ln: 15, r: 8, p: 3 };
/** Bounds the memory of a verification, whatever the graph contains. */
const costMax: Cost = { ln: 18, r: 16, p: 16 };
const saltBytes = 16;
const hashBytes = 32;

/** `weak`: right, and stored with another cost than the present one. */
export type Verdict = 'wrong' | 'right' | 'weak';

/** Computes and compares hashes of passwords. The address names the network of the caller, whose computations take turns with others'. */
export class Passwords {
  readonly #cost: Cost;
  readonly #queue = new FairQueue(queueOptions);
  /** Unknown people are compared with it, so that they take as long as known ones. */
  readonly #nobody: Stored;

  constructor(cost: Cost = presentCost) {
    this.#cost = cost;
    this.#nobody = { cost, salt: randomBytes(saltBytes), hash: randomBytes(hashBytes) };
  }

  async hash(password: Secret, address: string): Promise<string> {
    const salt = randomBytes(saltBytes);
    const hash = await this.#compute(password, { cost: this.#cost, salt }, address);
    return format({ cost: this.#cost, salt, hash });
  }

  /** `stored` is null for a person without a password, and for an unknown one. */
  async verify(password: Secret, stored: string | null, address: string): Promise<Verdict> {
    const known = stored === null ? this.#nobody : parse(stored);
    const hash = await this.#compute(password, known, address);
    if (!timingSafeEqual(hash, known.hash) || stored === null) return 'wrong';
    return isSame(known.cost, this.#cost) ? 'right' : 'weak';
  }

  #compute(password: Secret, { cost, salt }: Omit<Stored, 'hash'>, address: string): Promise<Buffer> {
    return this.#queue.run(address, () => computeScrypt(normalisePassword(password.reveal()), salt, cost));
  }
}

interface Stored {
  readonly cost: Cost;
  readonly salt: Buffer;
  readonly hash: Buffer;
}

function format({ cost: { ln, r, p }, salt, hash }: Stored): string {
  return `$scrypt$ln=${ln},r=${r},p=${p}$${salt.toString('base64url')}$${hash.toString('base64url')}`;
}

const shape = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([\w-]{22})\$([\w-]{43})$/;

function parse(text: string): Stored {
  const [, ln, r, p, salt = '', hash = ''] = shape.exec(text) ?? [];
  const cost = { ln: Number(ln), r: Number(r), p: Number(p) };
  const isUsable = cost.ln <= costMax.ln && cost.r <= costMax.r && cost.p <= costMax.p;
  if (!isUsable) throw new Error('a stored password is not readable');
  return { cost, salt: Buffer.from(salt, 'base64url'), hash: Buffer.from(hash, 'base64url') };
}

function isSame(one: Cost, other: Cost): boolean {
  return one.ln === other.ln && one.r === other.r && one.p === other.p;
}

function computeScrypt(password: string, salt: Buffer, { ln, r, p }: Cost): Promise<Buffer> {
  const memory = 128 * r * (2 ** ln + p + 2);
  const options: ScryptOptions = { N: 2 ** ln, r, p, maxmem: memory };
  return new Promise((resolve, reject) => {
    scrypt(password, salt, hashBytes, options, (error, hash) => (error === null ? resolve(hash) : reject(error)));
  });
}

export interface WithPasswords {
  readonly passwords: Passwords;
}
