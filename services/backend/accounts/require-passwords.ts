import { SvcError } from '../../contracts/errors.ts';
import type { WithConfig } from '../bus/with-bus.ts';

/** Throws where an operator has switched passwords off. Stored ones stay, for the case that they are switched on again. */
export function requirePasswords({ config }: WithConfig<'SIGN_IN_PASSWORDS'>): void {
  if (config.SIGN_IN_PASSWORDS) return;
  throw new SvcError('forbidden', 'Passwords are switched off on this platform.', {
    hint: 'Use another way to sign in.',
  });
}
