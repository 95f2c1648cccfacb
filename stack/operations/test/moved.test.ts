import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { portWishesOf } from '../../engines/plan-of.ts';
import { preparePlan } from '../../engines/prepare-plan.ts';
import { writeLease } from '../../ports/port-lease.ts';
import { freePorts } from '../../test/free-ports.ts';
import { openTrial } from './trial.ts';

test('a new address of /mcp is reported with its consequence for agents; the first start reports nothing', async () => {
  const [backend = 0, runtime = 0, frontend = 0, before = 0] = await freePorts(4);
  await using trial = await openTrial({ backend, runtime, frontend });
  const { installation } = trial;
  const prepare = async () => {
    const notices: string[] = [];
    const onNotice = (message: string) => void notices.push(message);
    const survey = { ownsPort: () => false, portPatienceMs: 0 };
    const plan = await preparePlan({ installation, env: process.env, survey, avoid: new Set(), onNotice });
    return { plan, notices: notices.filter((notice) => notice.startsWith('Give agents')) };
  };
  const first = await prepare();
  expect(first.notices).toEqual([]);

  const stranger = createServer();
  await new Promise<void>((resolve) => stranger.listen(before, '127.0.0.1', resolve));
  writeLease(installation, { ...first.plan.ports, 'remote-mcp': before }, portWishesOf(first.plan.definition));
  const second = await prepare();
  await new Promise((resolve) => stranger.close(resolve));
  const { mcp } = second.plan.addresses.public;
  expect(mcp).not.toContain(`:${before}/`);
  expect(second.notices).toEqual([`Give agents that use http://localhost:${before}/mcp the new address ${mcp}.`]);
});
