/** Architecture §11: a call may be silent for this long. */
export const silenceMaxMs = 60_000;
/** And last so long in all. */
export const callMaxMs = 30 * 60_000;
