import { describe, expect, it } from 'vitest';
import { SvcError } from '../contracts/errors.ts';
import { createLog } from './log.ts';
import { withBugReported } from './report-bug.ts';

function written() {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  return { lines, logger: createLog({ service: 'test', level: 'trace', destination })('test') };
}

describe('an error', () => {
  it('is shown unchanged, and not logged, when it was expected', () => {
    const { lines, logger } = written();
    const error = new SvcError('not_found', 'The workspace has no role "a".');
    expect(withBugReported(error, logger)).toBe(error);
    expect(lines).toEqual([]);
  });

  it('is logged once under an id, and shown as the id alone, when it is a bug', () => {
    const { lines, logger } = written();
    const shown = withBugReported(withBugReported(new TypeError('secret detail'), logger), logger);
    expect(shown.code).toBe('internal');
    const [, bug = ''] = /\(bug (\w+)\)/.exec(shown.message) ?? [];
    expect(shown.hint).toContain(bug);
    expect(`${shown.message} ${shown.hint}`).not.toContain('secret detail');
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'error', bug, err: { message: 'secret detail' } });
  });

  it('has its own id each time', () => {
    const { logger } = written();
    const shown = [1, 2].map(() => withBugReported(new Error('a'), logger).message);
    expect(shown[0]).not.toBe(shown[1]);
  });

  it('is cancelled, not a bug, after an abort', () => {
    const { lines, logger } = written();
    expect(withBugReported(AbortSignal.abort().reason, logger).code).toBe('cancelled');
    expect(lines).toEqual([]);
  });
});
