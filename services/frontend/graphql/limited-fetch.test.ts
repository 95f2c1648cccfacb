import { expect, test } from 'vitest';
import { limitedFetch } from './limited-fetch.ts';

/** A `fetch` whose answers the test gives, by address. */
function held() {
  const asked: string[] = [];
  const answers = new Map<string, PromiseWithResolvers<Response>>();
  const fetchNow = (input: RequestInfo | URL) => {
    const answer = Promise.withResolvers<Response>();
    asked.push(String(input));
    answers.set(String(input), answer);
    return answer.promise;
  };
  return { asked, fetchNow, answer: (address: string) => answers.get(address) };
}

const turn = () => new Promise((resolve) => setTimeout(resolve));

test('asks a limited number of questions at once, in their order', async () => {
  const { asked, fetchNow, answer } = held();
  const limited = limitedFetch(fetchNow, 2);
  const all = ['a', 'b', 'c', 'd'].map((address) => limited(address));
  await turn();
  expect(asked).toEqual(['a', 'b']);
  answer('b')?.resolve(new Response('of b'));
  expect(await (await all[1])?.text()).toBe('of b');
  await turn();
  expect(asked).toEqual(['a', 'b', 'c']);
  answer('a')?.reject(new TypeError('failed'));
  await expect(all[0]).rejects.toThrow('failed');
  await turn();
  expect(asked).toEqual(['a', 'b', 'c', 'd']);
  answer('c')?.resolve(new Response());
  answer('d')?.resolve(new Response());
  await Promise.all(all.slice(2));
  void limited('e');
  await turn();
  expect(asked.at(-1)).toBe('e');
});

test('a question that was dropped while it waited is not asked, and gives its turn on', async () => {
  const { asked, fetchNow, answer } = held();
  const limited = limitedFetch(fetchNow, 1);
  const dropping = new AbortController();
  const first = limited('a');
  const dropped = limited('b', { signal: dropping.signal });
  const last = limited('c');
  dropping.abort();
  answer('a')?.resolve(new Response());
  await first;
  await expect(dropped).rejects.toThrow('aborted');
  await turn();
  expect(asked).toEqual(['a', 'c']);
  answer('c')?.resolve(new Response());
  await last;
});
