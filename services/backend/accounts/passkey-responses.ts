import { z } from 'zod';

const base64url = (lengthMax: number) =>
  z
    .string()
    .min(1)
    .max(lengthMax)
    .regex(/^[A-Za-z0-9_-]+$/);
/** WebAuthn Level 3 §4: a credential's id has 1023 bytes at most. */
const credentialId = base64url(1364);
const clientDataJSON = base64url(4096);

/** The response of a browser to a request for a new passkey. Unknown fields are dropped. */
export const registrationShape = z
  .object({
    id: credentialId,
    response: z.object({
      clientDataJSON,
      attestationObject: base64url(8192),
      transports: z
        .array(z.string().regex(/^[a-z-]{1,20}$/))
        .max(10)
        .optional(),
    }),
  })
  .transform(({ id, response }) => ({ ...common(id), response }));

/** The response of a browser to a sign-in with a passkey. */
export const authenticationShape = z
  .object({
    id: credentialId,
    response: z.object({
      clientDataJSON,
      authenticatorData: base64url(2048),
      signature: base64url(1024),
      userHandle: base64url(128).nullish(),
    }),
  })
  .transform(({ id, response: { userHandle, ...response } }) => ({
    ...common(id),
    response: { ...response, ...(userHandle == null ? {} : { userHandle }) },
  }));

export type AuthenticationResponse = z.infer<typeof authenticationShape>;
export type RegistrationResponse = z.infer<typeof registrationShape>;

function common(id: string) {
  return { id, rawId: id, type: 'public-key' as const, clientExtensionResults: {} };
}
