import { SvcError, type SvcErrorOptions } from '../../services/contracts/errors.ts';
import { isCode } from '../state/durable-file.ts';

/** Another program took a port first. The same start may succeed on another port. */
export function lostPort(message: string, options: Pick<SvcErrorOptions, 'hint'> = {}): SvcError {
  const cause = Object.assign(new Error('its port is taken'), { code: 'EADDRINUSE' });
  return new SvcError('conflict', message, { ...options, cause });
}

export function isLostPort(error: unknown): boolean {
  return error instanceof SvcError && isCode(error.cause, 'EADDRINUSE');
}
