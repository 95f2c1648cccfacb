import { SvcError } from '../../contracts/errors.ts';

export interface OriginRules {
  /** SVC_ALLOWED_ORIGINS; unset means none. */
  readonly allowed: readonly string[] | undefined;
  /** SVC_PREVENT_DNS_REBINDING. */
  readonly validated: boolean;
}

const none: readonly string[] = [];

/**
 * Which browser pages may talk to /mcp (2025-11-25, "Streamable HTTP", "Security Warning"; part 5 of the specification, "Secret storage and
 * transport safety"). A page whose name was rebound to this address still sends its own Origin, which is checked. Programs that are not
 * browsers send no Origin.
 */
export class Origins {
  readonly #rules: OriginRules;
  /** Headers that let a page of that origin read the answer. */
  readonly #headers = new Map<string, readonly string[]>();

  constructor(rules: OriginRules) {
    this.#rules = rules;
    for (const origin of rules.allowed ?? []) this.#headers.set(origin, headersFor(origin));
  }

  isAllowed(origin: string | undefined): boolean {
    return origin === undefined || !this.#rules.validated || this.#headers.has(origin);
  }

  check(origin: string | undefined): void {
    if (this.isAllowed(origin)) return;
    throw new SvcError('forbidden', `The origin "${origin?.slice(0, 200)}" is not allowed.`, {
      hint: 'An operator can add it to SVC_ALLOWED_ORIGINS.',
    });
  }

  /** Names and values in turn, for every answer to a request of this origin. */
  headers(origin: string | undefined): readonly string[] {
    if (origin === undefined) return none;
    return this.#headers.get(origin) ?? (this.#rules.validated ? none : headersFor(origin));
  }
}

/** The answer to a preflight (Fetch standard, "CORS protocol"). */
export const preflightHeaders: readonly string[] = [
  ...['access-control-allow-methods', 'GET, POST, DELETE, OPTIONS'],
  ...[
    'access-control-allow-headers',
    'authorization, content-type, accept, mcp-session-id, mcp-protocol-version, last-event-id, x-request-id',
  ],
  ...['access-control-max-age', '600'],
];

function headersFor(origin: string): readonly string[] {
  return [
    ...['access-control-allow-origin', origin],
    ...['access-control-expose-headers', 'mcp-session-id, www-authenticate, x-request-id, retry-after'],
    ...['vary', 'origin'],
  ];
}
