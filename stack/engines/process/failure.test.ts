import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { type Installation, installationIn } from '../../state/installation.ts';
import { folderOfEachTest } from '../../test/folder-of-each-test.ts';
import { explain } from './failure.ts';

const dir = folderOfEachTest();
const since = Date.parse('2026-11-26T12:00:00Z');
let installation: Installation;
beforeEach(() => {
  installation = installationIn(dir());
  mkdirSync(installation.logsDir, { recursive: true });
});

const failure = {
  ...({ pid: 1, at: '', service: 'nats', check: 'get ready', code: 'unavailable', portTaken: false } as const),
  ...{ message: 'It was not ready within 60 s.', hint: null },
};

/** The message, with a log that was changed at this moment. */
async function told(lines: readonly string[], { changedAt = since + 1000, message = failure.message } = {}) {
  const file = join(installation.logsDir, 'nats.log');
  writeFileSync(file, lines.map((line) => `${line}\n`).join(''));
  utimesSync(file, changedAt / 1000, changedAt / 1000);
  return (await explain(installation, { ...failure, message }, since)).message;
}

const early = '[1] 2026/11/26 11:00:00.000000 [INF] Server is ready';
const now = '[1] 2026/11/26 12:00:00.500000 [ERR] Address in use';

describe('the last log lines of a part that failed to start', () => {
  test.each<[string, readonly string[], string]>([
    ['begin with the start', [early, now], '\nLast lines of logs/nats.log:\n  error Address in use'],
    ['may have no time', [early, 'waiting'], '\nLast lines of logs/nats.log:\n  error waiting'],
    ['may all be older', [early], ''],
    ['may be missing', [], ''],
  ])('%s', async (_what, lines, expected) => {
    const found = await told(lines);
    expect(found).toBe(`nats failed to get ready: It was not ready within 60 s.${expected}`);
  });

  test('without a time are of an earlier start if the log did not change since', async () => {
    expect(await told([early, 'panic: of last week'], { changedAt: since - 1 })).not.toContain('panic');
  });

  test('are not repeated after a message that has them', async () => {
    const message = 'it ended with exit code 3: panic: no good';
    expect(await told(['panic: no good'], { message })).toBe(`nats failed to get ready: ${message}`);
  });
});
