import { expect, test } from 'vitest';
import { DocumentFetches } from './document-fetches.ts';

const urlOf = (host: number | string) => `https://h${host}.example/client.json`;
const good = () => new Response('{}');

test('a network names thirty documents in ten minutes, and delays no other network', () => {
  const fetches = new DocumentFetches(async () => good());
  for (let i = 0; i < 30; i++) expect(fetches.isAdmitted(urlOf(i), '192.0.2.1', 1)).toBe(true);
  expect(() => fetches.isAdmitted(urlOf(30), '192.0.2.1', 2)).toThrow('Too many documents of agents');
  expect(fetches.isAdmitted(urlOf(30), '192.0.2.2', 2)).toBe(true);
  expect(fetches.isAdmitted(urlOf(30), null, 2)).toBe(true);
  expect(fetches.isAdmitted(urlOf(30), '192.0.2.1', 600_002)).toBe(true);
});

test.each([
  ['has another status', async () => new Response(null, { status: 502 })],
  ['cannot be fetched', async () => Promise.reject(new Error('refused'))],
])('a document that %s is not fetched again for a minute, and uses no allowance', async (_what, fetch) => {
  const fetches = new DocumentFetches(fetch);
  await fetches.fetch(urlOf('a')).catch(() => undefined);
  const now = performance.now();
  for (let i = 0; i < 40; i++) expect(fetches.isAdmitted(urlOf('a'), '192.0.2.1', now)).toBe(false);
  // Another path of the host may be right.
  expect(fetches.isAdmitted('https://ha.example/other.json', '192.0.2.1', now)).toBe(true);
  expect(fetches.isAdmitted(urlOf('a'), '192.0.2.1', now + 60_001)).toBe(true);
});

test('a good document is fetched again', async () => {
  const fetches = new DocumentFetches(async () => good());
  await fetches.fetch(urlOf('a'));
  expect(fetches.isAdmitted(urlOf('a'), '192.0.2.1')).toBe(true);
});

test('a long address is refused', () => {
  const fetches = new DocumentFetches(async () => good());
  expect(fetches.isAdmitted(`https://a.example/${'x'.repeat(300)}`, '192.0.2.1')).toBe(false);
});

test('sixteen documents are fetched at once, and a host with many waiting ones delays another by one', async () => {
  const begun: string[] = [];
  const answers: (() => void)[] = [];
  const fetches = new DocumentFetches(
    (url) =>
      new Promise((resolve) => {
        begun.push(url);
        answers.push(() => resolve(good()));
      }),
  );
  const slow = Array.from({ length: 16 }, (_, i) => fetches.fetch(urlOf(i)));
  const many = Array.from({ length: 8 }, (_, i) => fetches.fetch(`https://many.example/${i}`));
  await expect(fetches.fetch('https://many.example/8')).rejects.toMatchObject({ code: 'rate_limited' });
  const other = fetches.fetch(urlOf('other'));
  expect(begun).toEqual(Array.from({ length: 16 }, (_, i) => urlOf(i)));
  for (const answer of answers.slice(0, 2)) answer();
  await Promise.all(slow.slice(0, 2));
  expect(begun.slice(16)).toEqual(['https://many.example/0', urlOf('other')]);
  // The refused one was no failure of its document.
  expect(fetches.isAdmitted('https://many.example/8', '192.0.2.1')).toBe(true);
  while (begun.length < 25) {
    for (const answer of answers) answer();
    await Promise.resolve();
  }
  for (const answer of answers) answer();
  await Promise.all([...slow, ...many, other]);
});

test('a document whose turn does not come is given up', async () => {
  const fetches = new DocumentFetches(() => new Promise(() => undefined));
  for (let i = 0; i < 16; i++) void fetches.fetch(urlOf(i));
  await expect(fetches.fetch(urlOf(16))).rejects.toMatchObject({ code: 'unavailable' });
}, 10_000);
