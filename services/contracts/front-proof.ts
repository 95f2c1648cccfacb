/**
 * The header by which a backend knows requests of the platform's own proxy. Any program on the machine reaches a backend
 * from the proxy's address.
 */
export const frontProofHeader = 'svc-front';

/** Its value is the HMAC-SHA-256 of this text in hex, with the text of the encryption key as key. */
export const frontProofText = 'the proxy in front of the backends';
