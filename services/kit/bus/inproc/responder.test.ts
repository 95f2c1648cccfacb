import { expect, it } from 'vitest';
import { newProcessId } from '../../../contracts/ids.ts';
import { leastBusy, Responder } from './responder.ts';

const party = { identity: { kind: 'backend', process: newProcessId() }, ownEnd: 'backend-1' } as const;
const answer = async () => ({ payload: new Uint8Array(0), headers: {} });

function busy(running: number, concurrencyMax = 10): Responder {
  const responder = new Responder('a', answer, { concurrencyMax }, { party, leave: async () => undefined });
  for (let i = 0; i < running; i++) responder.begin();
  return responder;
}

it('the responder with the fewest requests in progress is chosen', () => {
  const responders = [busy(3), busy(1), busy(2)];
  for (let i = 0; i < 50; i++) expect(leastBusy(responders)).toBe(responders[1]);
});

it('equally busy responders are chosen equally often', () => {
  const free = busy(0);
  const responders = [busy(1), busy(1), busy(2)];
  const asked = Array.from({ length: 400 }, () => responders.indexOf(leastBusy(responders) ?? free));
  expect(asked.filter((i) => i === 0).length).toBeGreaterThan(100);
  expect(asked.filter((i) => i === 1).length).toBeGreaterThan(100);
  expect(asked.filter((i) => i === 2)).toEqual([]);
});

it('a full responder is not chosen, and is chosen again when a request is done', () => {
  const full = busy(1, 1);
  const free = busy(5);
  expect(leastBusy([full, free])).toBe(free);
  expect(leastBusy([full])).toBeNull();
  full.settled();
  expect(leastBusy([full, free])).toBe(full);
  expect(leastBusy([])).toBeNull();
});
