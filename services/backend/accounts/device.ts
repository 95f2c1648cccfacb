const browsers = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const;

/** Android names Linux too, and iPhones name Mac OS X. */
const systems = [
  ['Android', 'Android'],
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Windows', 'Windows'],
  ['Mac OS X', 'macOS'],
  ['CrOS', 'ChromeOS'],
  ['Linux', 'Linux'],
] as const;

/** A browser as its owner recognises it. Only words of the lists above are kept of what the client sent. */
export function describeDevice(userAgent: string | undefined): string {
  const text = userAgent ?? '';
  const [, browser] = browsers.find(([mark]) => text.includes(mark)) ?? [];
  const [, system] = systems.find(([mark]) => text.includes(mark)) ?? [];
  if (browser === undefined) return system ?? 'Unknown browser';
  return system === undefined ? browser : `${browser} on ${system}`;
}
