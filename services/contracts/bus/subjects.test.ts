import { describe, expect, it } from 'vitest';
import { newId, newProcessId, newSessionId } from '../ids.ts';
import { matches, patterns, subjects, tokensOf } from './subjects.ts';

describe('a pattern', () => {
  it.each([
    ['a.b', 'a.b'],
    ['a.*', 'a.b'],
    ['*.*', 'a.b'],
    ['*', 'a'],
    ['a.*.c', 'a.b.c'],
    ['>', 'a'],
    ['>', 'a.b.c'],
    ['a.>', 'a.b'],
    ['a.>', 'a.b.c'],
    ['a.*.>', 'a.b.c.d'],
  ])('%s matches the subject %s', (pattern, subject) => {
    expect(matches(pattern, subject)).toBe(true);
  });

  it.each([
    ['a.b', 'a'],
    ['a.b', 'a.b.c'],
    ['a.b', 'a.c'],
    ['a.b', 'A.b'],
    ['a.*', 'a'],
    ['a.*', 'a.b.c'],
    ['*', 'a.b'],
    ['a.>', 'a'],
    ['a.>', 'b.c'],
    ['a.*.>', 'a.b'],
    ['a*', 'ab'],
    ['a.b*', 'a.bc'],
  ])('%s does not match the subject %s', (pattern, subject) => {
    expect(matches(pattern, subject)).toBe(false);
  });

  it.each([
    ['a.*', 'a.*'],
    ['a.>', 'a.*'],
    ['a.>', 'a.*.b'],
    ['a.>', 'a.>'],
    ['a.>', 'a.b.>'],
    ['*.*', 'a.*'],
    ['>', '>'],
  ])('%s covers the pattern %s', (pattern, narrower) => {
    expect(matches(pattern, narrower)).toBe(true);
  });

  it.each([
    ['a.b', 'a.*'],
    ['a.*', 'a.>'],
    ['a.*', '*.b'],
    ['*', '>'],
    ['*.*', '>'],
    ['*.*', 'a.>'],
    ['a.b.>', 'a.>'],
    ['a.*.>', 'a.>'],
  ])('%s does not cover the wider pattern %s', (pattern, wider) => {
    expect(matches(pattern, wider)).toBe(false);
  });
});

describe('subjects', () => {
  const [runtime, process, workspace] = [newId('runtime'), newProcessId(), newId('workspace')];

  it.each([
    [subjects.handshake(runtime, process), patterns.handshake],
    [subjects.hello(process), patterns.hello],
    [subjects.key(process), patterns.key],
    [subjects.heartbeat(runtime, process), patterns.heartbeat],
    [subjects.report(runtime, process), patterns.report],
    [subjects.gone(runtime, process), patterns.gone],
    [subjects.event(workspace, 'status'), patterns.events],
    [subjects.event(workspace, 'key'), patterns.eventsOf(workspace)],
  ])('%s matches its pattern and no other', (subject, pattern) => {
    expect(matches(pattern, subject)).toBe(true);
    const others = [
      patterns.handshake,
      patterns.hello,
      patterns.key,
      patterns.heartbeat,
      patterns.report,
      patterns.gone,
    ];
    for (const other of others) if (other !== pattern) expect(matches(other, subject), other).toBe(false);
  });

  it('of one workspace do not match the pattern of another', () => {
    expect(matches(patterns.eventsOf(newId('workspace')), subjects.event(workspace, 'key'))).toBe(false);
  });

  it('are split into tokens when they match', () => {
    expect(tokensOf(patterns.heartbeat, subjects.heartbeat(runtime, process))).toEqual([
      'svc',
      'heartbeat',
      runtime,
      process,
    ]);
    expect(tokensOf(patterns.heartbeat, subjects.session(newSessionId()))).toBeNull();
  });
});
