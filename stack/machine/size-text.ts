const units = ['KB', 'MB', 'GB', 'TB'] as const;
const step = 1024;

/** A readable size: whole kilobytes, and one decimal for larger units. */
export function sizeText(bytes: number): string {
  const fits = units.findIndex((_, index) => bytes < step ** (index + 2));
  const index = fits === -1 ? units.length - 1 : fits;
  const amount = bytes / step ** (index + 1);
  return `${index === 0 ? Math.ceil(amount) : amount.toFixed(1)} ${units[index]}`;
}
