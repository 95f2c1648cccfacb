import { describe, expect, it } from 'vitest';
import { SvcError } from '../contracts/errors.ts';
import { createLog } from './log.ts';
import { withBugReported } from './report-bug.ts';

function written() {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  return { lines, logger: createLog({ service: 'test', level: 'trace', destination })('test') };
}

describe('what was thrown', () => {
  it('is shown as it is, and not logged, where it was expected', () => {
    const { lines, logger } = written();
    const error = new SvcError('not_found', 'There is no role "a".');
    expect(withBugReported(error, logger)).toBe(error);
    expect(lines).toEqual([]);
  });

  it('is logged once under an id, and shown as the id alone, where it is a bug', () => {
    const { lines, logger } = written();
    const shown = withBugReported(withBugReported(new TypeError('secret detail'), logger), logger);
    expect(shown.code).toBe('internal');
    const [, bug = ''] = /\(bug (\w+)\)/.exec(shown.message) ?? [];
    expect(shown.hint).toContain(bug);
    expect(`${shown.message} ${shown.hint}`).not.toContain('secret detail');
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'error', bug, err: { message: 'secret detail' } });
  });

  it('has an id of its own each time', () => {
    const { logger } = written();
    const shown = [1, 2].map(() => withBugReported(new Error('a'), logger).message);
    expect(shown[0]).not.toBe(shown[1]);
  });

  it('is cancelled, not a bug, where somebody aborted', () => {
    const { lines, logger } = written();
    expect(withBugReported(AbortSignal.abort().reason, logger).code).toBe('cancelled');
    expect(lines).toEqual([]);
  });
});
