import { expect, it } from 'vitest';
import { errorCodes, SvcError } from '../../contracts/errors.ts';
import { createLog } from '../log.ts';
import { errorFromBus, errorOnBus, parseErrorFromBus } from './error-on-bus.ts';

function written() {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  return { lines, logger: createLog({ service: 'test', level: 'info', destination })('test') };
}

it.each(errorCodes.filter((code) => code !== 'internal' && code !== 'cancelled'))('%s crosses unchanged', (code) => {
  const { lines, logger } = written();
  const error = new SvcError(code, 'What failed.', { hint: 'Mend it.', cause: new Error('inside') });
  const sent = errorOnBus(error, logger);
  expect(sent).toEqual({ code, message: 'What failed.', hint: 'Mend it.' });
  const arrived = errorFromBus(JSON.parse(JSON.stringify(sent)));
  expect(arrived).toMatchObject({ code, message: 'What failed.', hint: 'Mend it.' });
  expect(arrived.cause).toBeUndefined();
  expect(lines).toEqual([]);
});

it('a bug crosses as an id, and is logged', () => {
  const { lines, logger } = written();
  const sent = errorOnBus(new TypeError('secret detail'), logger);
  expect(sent.code).toBe('internal');
  expect(JSON.stringify(sent)).not.toContain('secret detail');
  expect(lines.join()).toContain('secret detail');
});

it('a cancelled responder appears as unavailable to a caller that still waits', () => {
  const { logger } = written();
  expect(errorOnBus(AbortSignal.abort().reason, logger).code).toBe('unavailable');
});

it('a long text is cut, not refused', () => {
  const { logger } = written();
  const sent = errorOnBus(new SvcError('conflict', 'm'.repeat(10_000), { hint: 'h'.repeat(10_000) }), logger);
  expect([sent.message.length, sent.hint?.length]).toEqual([4000, 1000]);
});

it('a code of a newer version is internal', () => {
  expect(errorFromBus({ code: 'teapot', message: 'a' })).toMatchObject({ code: 'internal', message: 'a' });
});

it('text of a hostile responder has no control characters and no halves of surrogate pairs', () => {
  const error = { code: 'conflict', message: 'a\u001b]0;x\u0007b\u202ec\ud800', hint: '\u009b31m\u200bhint' };
  const { message, hint } = parseErrorFromBus(Buffer.from(JSON.stringify(error)));
  expect([message, hint]).toEqual(['a ]0;x bc�', ' 31mhint']);
});

it('text of a hostile responder is cut, and never says that the caller cancelled', () => {
  const error = { code: 'cancelled', message: 'm'.repeat(10_000), hint: 'h'.repeat(10_000) };
  const arrived = parseErrorFromBus(Buffer.from(JSON.stringify(error)));
  expect([arrived.code, arrived.message.length, arrived.hint?.length]).toEqual(['unavailable', 4000, 1000]);
});

it.each(['', '{}', '[]', '{"code":"conflict","message":7}', '{"code":"conflict","message":"m","hint":{}}'])(
  'a value that is not an error is not accepted as one: %s',
  (text) => {
    expect(() => parseErrorFromBus(Buffer.from(text))).toThrow();
  },
);
