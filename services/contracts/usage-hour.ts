/** Usage is kept by the hour. */
export const hourMs = 60 * 60 * 1000;
