/** `home` of the platform's own runtimes, which belong to no workspace. */
export const platformHome = 'platform';
