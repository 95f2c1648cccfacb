import { expect, test } from 'vitest';
import { freeBusPorts, freeDgraphPorts, freePorts } from './free-ports.ts';

test('no port is found twice, however many look at the same time', async () => {
  const found = await Promise.all(
    Array.from({ length: 40 }, async () => {
      const [ports, { port, httpPort }, dgraph] = await Promise.all([freePorts(4), freeBusPorts(), freeDgraphPorts()]);
      const [zero, alpha] = [dgraph['dgraph-zero'], dgraph['dgraph-alpha']];
      return [...ports, port, httpPort, zero, zero + 1000, alpha, alpha + 1000, alpha - 1000];
    }),
  );
  expect(new Set(found.flat()).size).toBe(40 * 11);
});
