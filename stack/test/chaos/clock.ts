import { chmodSync, globSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The time of day of some processes, which can be set without setting that of the machine. Their other clocks go on as they did. */
export class Clock {
  /** Run in place of Node. */
  readonly node: string;
  readonly #file: string;

  private constructor(node: string, file: string) {
    this.node = node;
    this.#file = file;
  }

  /** Null where there is no libfaketime. */
  static in(folder: string, library: string | undefined = globSync(usualPlace)[0]): Clock | null {
    if (library === undefined) return null;
    const clock = new Clock(join(folder, 'node'), join(folder, 'clock'));
    clock.set(0);
    // It looks into the file again after a second.
    const variables = {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: clock.#file,
      FAKETIME_CACHE_DURATION: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    };
    const words = Object.entries(variables).map(([name, value]) => `${name}='${value}'`);
    writeFileSync(clock.node, `#!/bin/sh\nexport ${words.join(' ')}\nexec '${process.execPath}' "$@"\n`);
    chmodSync(clock.node, 0o700);
    return clock;
  }

  /** Ahead of that of the machine; negative: behind. */
  set(aheadSeconds: number): void {
    writeFileSync(this.#file, `${aheadSeconds < 0 ? '' : '+'}${aheadSeconds}\n`);
  }
}

/** Where Debian's package of that name has it. */
const usualPlace = '/usr/lib/*/faketime/libfaketimeMT.so.1';
