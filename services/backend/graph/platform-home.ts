/** `home` of a runtime that belongs to no workspace: the platform's own. */
export const platformHome = 'platform';
