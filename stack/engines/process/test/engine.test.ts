import { describe } from 'vitest';
import { hasNatsServer } from '../../../test/platform.ts';
import { engineContract } from '../../engine.contract.ts';

describe.skipIf(!hasNatsServer)('on a real server', () => {
  engineContract({
    name: 'process',
    env: process.env,
    kill: async ({ pid }) => void process.kill(pid ?? 0, 'SIGKILL'),
  });
});
