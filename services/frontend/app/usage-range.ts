/** The stretches of time that the page of usage shows. */
export const usageRanges = {
  '24h': { title: '24 hours', hours: 24, isByDay: false },
  '7d': { title: '7 days', hours: 7 * 24, isByDay: false },
  '30d': { title: '30 days', hours: 30 * 24, isByDay: true },
} as const;
export type UsageRange = keyof typeof usageRanges;

export function findUsageRange(text: unknown): UsageRange | undefined {
  return (['24h', '7d', '30d'] as const).find((range) => range === text);
}
