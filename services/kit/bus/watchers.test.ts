import { expect, it } from 'vitest';
import { createLog } from '../log.ts';
import { Turns } from './turns.ts';
import { Watchers } from './watchers.ts';

const lines: string[] = [];
const destination = { write: (line: string) => void lines.push(line) };
const logger = createLog({ service: 'test', level: 'error', destination })('test');

it('a listener that stops does not stop another with the same function', async () => {
  const watchers = new Watchers<string>(new Turns(), logger);
  const heard: string[] = [];
  const hear = (news: string) => void heard.push(news);
  const first = watchers.add(hear);
  watchers.add(hear);
  await first.stop();
  watchers.tell('news');
  await Promise.resolve();
  expect(heard).toEqual(['news']);
});

it('an error of one listener is a bug in the log, and the others are called', async () => {
  const watchers = new Watchers<string>(new Turns(), logger);
  const heard: string[] = [];
  watchers.add(() => {
    throw new Error('a bug');
  });
  watchers.add((news) => heard.push(news));
  watchers.tell('news');
  await Promise.resolve();
  expect(heard).toEqual(['news']);
  expect(lines).toMatchObject([expect.stringContaining('a bug')]);
});
