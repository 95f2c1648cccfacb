import type { AllowedSkip } from './suites/verdict.ts';

/** Every test that may be skipped, and why. A skip that is not here fails `npm test`. */
export const skips: readonly AllowedSkip[] = [];
