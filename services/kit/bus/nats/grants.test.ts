import { expect, it } from 'vitest';
import { blobSubjects, buckets, matches, streams } from '../../../contracts/bus/subjects.ts';
import { newId, newProcessId } from '../../../contracts/ids.ts';
import { grantsOf, whoIsSubject } from './grants.ts';
import { keySubject, streamSubject } from './subjects.ts';

const runtime = {
  kind: 'runtime',
  process: newProcessId(),
  runtime: newId('runtime'),
  name: 'a',
  workspace: null,
} as const;

it.each([
  ...Object.values(streams).map(streamSubject),
  ...Object.values(buckets).map((bucket) => keySubject(bucket, '>')),
  blobSubjects.all,
  '$JS.>',
])('JetStream stores no message of a runtime: %s', (kept) => {
  const { publish } = grantsOf(runtime, { inbox: '_I.inbox', asks: true });
  expect(publish.filter((granted) => matches(kept, granted) || matches(granted, kept))).toEqual([]);
});

it('a runtime publishes only on subjects with its own name, and asks for its identity', () => {
  const { publish } = grantsOf(runtime, { inbox: '_I.inbox', asks: true });
  const own = [`${runtime.runtime}.${runtime.process}`, `${runtime.runtime}-${runtime.process}`];
  const unnamed = publish.filter((granted) => !own.some((name) => granted.includes(name)));
  expect(unnamed.every((granted) => granted === whoIsSubject)).toBe(true);
});
