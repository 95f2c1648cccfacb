/** Why a sign-in by the external OpenID provider led back to the sign-in page, in its address: `?refused=CODE`. */
export const providerRefusals = [
  'no_provider',
  'provider_unavailable',
  'provider_refused',
  'expired',
  'address_not_verified',
  'unknown_address',
  'other_identity',
] as const;

export type ProviderRefusal = (typeof providerRefusals)[number];

export function findProviderRefusal(text: unknown): ProviderRefusal | undefined {
  return providerRefusals.find((known) => known === text);
}
