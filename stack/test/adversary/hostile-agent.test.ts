import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, test, vi } from 'vitest';
import { isGood, openSession, rpc, send } from '../../../services/remote-mcp/test/raw.ts';
import { type Home, startTwoHomes } from '../homes.ts';
import { type Platform, startTimeoutMs, testTimeoutMs } from '../platform.ts';
import { attack } from './hostile-agent.ts';
import { httpAttacks } from './http-attacks.ts';

vi.setConfig({ testTimeout: testTimeoutMs });
let platform: Platform;
let a: Home;
let b: Home;
let pid: number;
beforeAll(async () => {
  ({ platform, a, b } = await startTwoHomes());
  pid = await platform.pid();
}, startTimeoutMs);
afterAll(() => platform[Symbol.asyncDispose](), startTimeoutMs);
const rss = () => Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024);
test.each(Object.keys(httpAttacks))('%s', async (name) => {
  const target = {
    mcpUrl: platform.mcpUrl,
    key: a.same.keyText,
    session: await openSession(`${platform.mcpUrl}?skillIds=${a.same.skill}`, a.same.keyText),
  };
  const session = await openSession(`${platform.mcpUrl}?skillIds=${b.same.skill}`, b.same.keyText);
  const call = async (): Promise<[number, string]> => {
    const t = performance.now();
    const got = await send(platform.mcpUrl, {
      key: b.same.keyText,
      session,
      body: rpc('tools/call', { name: 'get-env', arguments: {} }),
    }).catch((e) => ({ status: 0, text: String(e), body: {} }));
    return [performance.now() - t, isGood(got as never) ? 'ok' : `${got.status} ${got.text.slice(0, 150)}`];
  };
  const watch = async (p: Promise<unknown>) => {
    let over = false;
    p.then(
      () => {
        over = true;
      },
      () => {
        over = true;
      },
    );
    const t: number[] = [];
    const wrong: Record<string, number> = {};
    let peak = 0;
    while (!over) {
      const [ms, said] = await call();
      t.push(ms);
      if (said !== 'ok') wrong[said] = (wrong[said] ?? 0) + 1;
      peak = Math.max(peak, rss());
      await new Promise((r) => setTimeout(r, 4));
    }
    t.sort((x, y) => x - y);
    return {
      calls: t.length,
      p50: t[t.length >> 1]?.toFixed(1),
      p99: t[Math.ceil(t.length * 0.99) - 1]?.toFixed(1),
      max: t.at(-1)?.toFixed(1),
      wrong,
      peak,
    };
  };
  const idle = await watch(new Promise((r) => setTimeout(r, 700)));
  const before = rss();
  const done = attack(name as never, target);
  const during = await watch(done);
  const outcome = await done.catch(String);
  await new Promise((r) => setTimeout(r, 3000));
  console.log(
    `MEASURED ${name} rss ${before} peak ${during.peak} after ${rss()} | idle p99 ${idle.p99} | ${JSON.stringify(during)} | ${JSON.stringify(outcome)}`,
  );
});
