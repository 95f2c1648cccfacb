import type { WithConfig } from '../bus/with-bus.ts';

/** The ways in that the sign-in page offers. They are those of the platform, and tell nothing about a person. */
export interface SignInWays {
  readonly password: boolean;
  readonly passkeys: boolean;
  /** Whether mail is sent. Otherwise an operator makes the link for a person without a password. */
  readonly mail: boolean;
  readonly provider: { readonly name: string } | null;
}

export function waysToSignIn({ config }: WithConfig<'EMAIL_PROVIDER'>): SignInWays {
  return { password: true, passkeys: false, mail: config.EMAIL_PROVIDER !== 'log', provider: null };
}
