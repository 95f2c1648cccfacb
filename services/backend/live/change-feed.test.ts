import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { newId, newProcessId, type RuntimeId, type WorkspaceId } from '../../contracts/ids.ts';
import { heldBytes } from '../../kit/test/kept-bytes.ts';
import { registerRuntime } from '../runtimes/register-runtime.ts';
import { addMember, addWorkspace, openTestBackend, operator, type TestBackend } from '../test/open-test-backend.ts';
import type { UserPrincipal } from '../tokens/verify-token.ts';
import { ChangeFeed } from './change-feed.ts';

let backend: TestBackend;
let feed: ChangeFeed;
let home: WorkspaceId;
let person: UserPrincipal;
let closing: AbortController;

beforeEach(async () => {
  closing = new AbortController();
  backend = await openTestBackend();
  feed = new ChangeFeed({ ...backend, isSignedIn: async () => true });
  home = (await addWorkspace(backend, 'home')).id;
  person = await addMember(backend, home, 'viewer');
});
afterEach(async () => {
  closing.abort();
  await feed.stop();
  await backend.close();
});

async function addRuntime(name: string): Promise<RuntimeId> {
  return (await registerRuntime(backend, operator, { workspace: home, name })).runtime.id;
}

function beat(runtime: RuntimeId): void {
  const process = newProcessId();
  backend.processes.seen(runtime, process);
  backend.processes.gone({ runtime, process });
}

/** A page is not told what was before it followed. */
async function beatUntil(runtimes: readonly RuntimeId[], told: Promise<unknown>): Promise<void> {
  let isTold = false;
  void told.then(() => {
    isTold = true;
  });
  await expect
    .poll(() => {
      runtimes.forEach(beat);
      return isTold;
    })
    .toBe(true);
}

test('a member who is removed learns nothing of what already waited for the member’s page', async () => {
  const runtimes = await Promise.all(['a', 'b', 'c'].map(addRuntime));
  const following = feed.followRuntimes(person, home, closing.signal);
  await beatUntil(runtimes, following.next());
  const member = await backend.graph.findBy('member', { user: person.user }, home);
  await backend.graph.write(async (transaction) => {
    if (member !== null) await transaction.remove('member', member.id, home);
  });
  await pause(150);
  await expect(following.next()).rejects.toMatchObject({ code: 'not_found' });
});

test('any number of runtimes of others costs no more for many pages than for one', async () => {
  const pages = Array.from({ length: 200 }, () => feed.followRuntimes(person, home, closing.signal));
  const own = await addRuntime('own');
  await beatUntil([own], Promise.all(pages.map((page) => page.next())));
  const waiting = pages.map((page) => page.next());
  const before = heldBytes();
  for (let i = 0; i < 200; i++) {
    for (let j = 0; j < 50; j++) beat(newId('runtime'));
    await turn();
  }
  expect(heldBytes() - before).toBeLessThan(16 * 1024 * 1024);
  beat(own);
  const heard = await Promise.all(waiting);
  expect(new Set(heard.map(({ value }) => value?.id))).toEqual(new Set([own]));
});
