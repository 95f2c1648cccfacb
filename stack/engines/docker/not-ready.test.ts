import Docker from 'dockerode';
import { expect, test } from 'vitest';
import { SvcError } from '../../../services/contracts/errors.ts';
import { notReady } from './not-ready.ts';

const part = { name: 'backend' };
const docker = new Docker({ socketPath: '/nowhere/docker.sock', host: undefined, protocol: 'http' });
const why = (cause: unknown) => notReady({ part, options: { name: 'svc-backend' } }, cause, docker);

test('the hint of the cause is kept; without one it names the log', async () => {
  const gone = new SvcError('unavailable', 'Docker does not run.', { hint: 'Start it.' });
  expect(await why(gone)).toMatchObject({
    code: 'unavailable',
    message: 'backend failed to get ready: Docker does not run.',
    hint: 'Start it.',
  });
  expect(await why(new SvcError('timeout', 'it was not ready in time'))).toMatchObject({
    message: 'backend failed to get ready: it was not ready in time.',
    hint: 'Read its log: svc logs backend',
  });
});
