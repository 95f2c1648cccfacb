/**
 * What an agent's list of tools holds from the start. `skills`: the constant tools, and the tools of each skill once it
 * is loaded. `all`: every tool of every skill of the active roles, for clients that list tools once.
 */
export const keyDisclosures = ['skills', 'all'] as const;
export type KeyDisclosure = (typeof keyDisclosures)[number];

export const defaultDisclosure: KeyDisclosure = 'skills';
