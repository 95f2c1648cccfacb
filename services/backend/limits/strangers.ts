import type { FastifyRequest } from 'fastify';
import { SvcError } from '../../contracts/errors.ts';
import { Budget, type Held } from '../../kit/budget.ts';
import { readBody } from '../../kit/http/read-body.ts';
import { createNetworkOfClient, type FrontNeeds, type NetworkOfClient } from '../http/network-of-client.ts';

/** A response to a passkey is the largest body: some kilobytes. */
const bodyMaxBytes = 16 * 1024;
const mebibyte = 1024 * 1024;
/** One network gets a part of the memory only. */
const memoryLimits = { total: 16 * mebibyte, shares: { network: 4 * mebibyte } };
/** A small body arrives at once: this is 1 KiB a second. */
const slowest = { bytes: 5 * 1024, periodMs: 5000 };

/** Clients that have shown no token. They are counted by their networks. */
export class Strangers {
  readonly networkOf: NetworkOfClient;
  readonly #memory = new Budget({
    ...{ what: 'bytes of memory', hint: 'Wait for the answers to earlier requests.', ...memoryLimits },
  });

  constructor(backend: FrontNeeds) {
    this.networkOf = createNetworkOfClient(backend);
  }

  /** The body, with its memory, which the caller releases. */
  async hold(request: FastifyRequest): Promise<{ readonly body: Buffer; readonly held: Held<'network'> }> {
    const held = this.#memory.hold({ network: this.networkOf(request) }, 0);
    try {
      checkLength(request);
      const body = await readBody(request.raw, held, slowest);
      if (body === null) throw new SvcError('cancelled', 'The client left before its body had arrived.');
      return { body, held };
    } catch (thrown) {
      held.release();
      throw thrown;
    }
  }

  /** The body. Its memory counts only while it arrives. */
  async read(request: FastifyRequest): Promise<Buffer> {
    const { body, held } = await this.hold(request);
    held.release();
    return body;
  }
}

function checkLength({ headers }: FastifyRequest): void {
  const length = Number(headers['content-length']);
  if (length <= bodyMaxBytes) return;
  throw Number.isNaN(length)
    ? new SvcError('invalid_input', 'The request has no Content-Length.')
    : new SvcError('too_large', `The body is above the limit of ${bodyMaxBytes} bytes.`);
}
