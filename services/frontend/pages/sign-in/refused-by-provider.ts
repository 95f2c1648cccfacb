import type { ErrorCode } from '../../../contracts/errors.ts';
import type { ProviderRefusal } from '../../../contracts/provider-refusal.ts';
import { ShownError } from '../../graphql/shown-error.ts';

interface Explanation {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint: string;
}

const explanations: Readonly<Record<ProviderRefusal, Explanation>> = {
  no_provider: {
    code: 'not_found',
    message: 'This installation has no external provider.',
    hint: 'Sign in another way.',
  },
  provider_unavailable: {
    code: 'unavailable',
    message: 'The provider does not answer.',
    hint: 'Try again later, or sign in another way.',
  },
  provider_refused: {
    code: 'forbidden',
    message: 'The provider refused the sign-in.',
    hint: 'Try again, or ask the operator of the platform: the log of the backend has the reason.',
  },
  expired: {
    code: 'timeout',
    message: 'The sign-in at the provider took too long, or began in another browser.',
    hint: 'Try again.',
  },
  address_not_verified: {
    code: 'forbidden',
    message: 'The provider has not verified your e-mail address.',
    hint: 'Verify the address at the provider, then try again.',
  },
  unknown_address: {
    code: 'forbidden',
    message: 'No account here has the e-mail address that the provider names.',
    hint: 'Ask an owner of a workspace to invite that address.',
  },
  other_identity: {
    code: 'conflict',
    message: 'The account with this e-mail address belongs to another person at the provider.',
    hint: 'Sign in at the provider as that person, or sign in here another way.',
  },
};

/** A refusal of the external provider, as the sign-in page shows it. */
export function refusedByProvider(refusal: ProviderRefusal): ShownError {
  return new ShownError({ ...explanations[refusal], requestId: null });
}
