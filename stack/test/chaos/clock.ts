import { chmodSync, globSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Path of the library in Debian's package libfaketime. */
const usualPlace = '/usr/lib/*/faketime/libfaketimeMT.so.1';

export type Clock = NonNullable<ReturnType<typeof clockIn>>;

/**
 * A time of day for some processes, which is set without the machine's; their other clocks continue. Null where there
 * is no libfaketime.
 */
export function clockIn(folder: string, library: string | undefined = globSync(usualPlace)[0]) {
  if (library === undefined) return null;
  const [node, file] = [join(folder, 'node'), join(folder, 'clock')];
  // libfaketime reads the file again after a second.
  const variables = {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_CACHE_DURATION: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  };
  const words = Object.entries(variables).map(([name, value]) => `${name}='${value}'`);
  writeFileSync(node, `#!/bin/sh\nexport ${words.join(' ')}\nexec '${process.execPath}' "$@"\n`);
  chmodSync(node, 0o700);
  /** Seconds ahead of the machine's clock; negative: behind. */
  const set = (aheadSeconds: number) => writeFileSync(file, `${aheadSeconds < 0 ? '' : '+'}${aheadSeconds}\n`);
  set(0);
  /** `node` is a program to run in place of Node. */
  return { node, set };
}
