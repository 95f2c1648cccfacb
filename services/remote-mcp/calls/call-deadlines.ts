/** Architecture §11: a call may be silent for this long. */
export const silenceMaxMs = 60_000;
/** The longest total duration of a call. */
export const callMaxMs = 30 * 60_000;
