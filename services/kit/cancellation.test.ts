import { expect, test, vi } from 'vitest';
import { SvcError } from '../contracts/errors.ts';
import { abortSignalOf, Cancellation } from './cancellation.ts';

const why = new SvcError('cancelled', 'The request was cancelled.');
const newListener = () => ({ handleEvent: vi.fn() });

test('tells each listener once, with the first reason', () => {
  const cancellation = new Cancellation();
  const listeners = [newListener(), newListener()];
  for (const listener of listeners) cancellation.addEventListener('abort', listener);
  expect(cancellation.aborted).toBe(false);
  cancellation.throwIfAborted();
  cancellation.abort(why);
  cancellation.abort(new SvcError('timeout', 'Too late.'));
  for (const { handleEvent } of listeners) expect(handleEvent).toHaveBeenCalledTimes(1);
  expect(cancellation).toMatchObject({ aborted: true, reason: why });
  expect(() => cancellation.throwIfAborted()).toThrow(why);
});

test('does not tell a listener that was removed', () => {
  const cancellation = new Cancellation();
  const removed = newListener();
  const staying = newListener();
  cancellation.addEventListener('abort', removed);
  cancellation.addEventListener('abort', staying);
  cancellation.removeEventListener('abort', removed);
  cancellation.abort(why);
  expect(removed.handleEvent).not.toHaveBeenCalled();
  expect(staying.handleEvent).toHaveBeenCalledOnce();
});

test.each(['before', 'after'])('makes an AbortSignal, whose call is cancelled %s', (when) => {
  const cancellation = new Cancellation();
  if (when === 'before') cancellation.abort(why);
  const signal = abortSignalOf(cancellation);
  cancellation.abort(why);
  expect(signal).toMatchObject({ aborted: true, reason: why });
});
