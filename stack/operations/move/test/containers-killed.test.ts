import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { dockerHost } from '../../../engines/docker/test/docker-trial.ts';
import type { Installation } from '../../../state/installation.ts';
import { readReplacement } from '../../replace/replacement.ts';
import type { Side } from '../../replace/side.ts';
import { embedded, inContainers, MovesInContainers, notesIn } from './moves-in-containers.ts';
import { confirmMove, contentOf, killedMove, leftovers, moveTo, settleMove, undoMove } from './trial.ts';

// The first one on a daemon builds the image.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 400_000 });

describe.skipIf(dockerHost === null)('on a real Docker', () => {
  const trial = new MovesInContainers();

  const killedAt = async (installation: Installation, to: Side, step: string) => {
    expect([step, await killedMove(installation, { to, step })]).toEqual([step, 'SIGKILL']);
    return readReplacement(installation)?.step;
  };

  const expectLeft = async (installation: Installation, inDocker: readonly string[]) => {
    const left = [await trial.inDocker(), leftovers(installation), readReplacement(installation)];
    expect(left).toEqual([inDocker, [], null]);
  };
  const expectOriginal = async (installation: Installation) =>
    expect([await contentOf(installation), notesIn(installation)]).toEqual([
      trial.original,
      'what an MCP server keeps',
    ]);

  test('killed anywhere, the data before is there and whole, and nothing is left in Docker', async () => {
    const installation = trial.copy();
    for (const step of ['nats', 'verify', 'write-definition']) {
      expect(await killedAt(installation, inContainers, step)).toBe('filling');
      expect(await settleMove(installation)).toEqual([expect.stringContaining('everything is as it was before')]);
      await expectLeft(installation, []);
      expect(existsSync(join(installation.stateDir, 'containers', 'nats'))).toBe(false);
      await expectOriginal(installation);
    }
  });

  test('an undo that is killed is finished the next time', async () => {
    const installation = trial.copy();
    await moveTo(installation, inContainers);
    expect(await killedMove(installation, { verb: 'undo', step: 'fill' })).toBe('SIGKILL');
    await undoMove(installation);
    await expectLeft(installation, []);
    await expectOriginal(installation);
  });

  test('killed at any step of the way back, nothing is lost', async () => {
    const installation = trial.copy();
    await moveTo(installation, inContainers);
    await confirmMove(installation);
    const volumes = ['backend', 'nats', 'runtime'];
    expect(await killedAt(installation, embedded, 'nats')).toBe('keeping');
    await settleMove(installation);
    expect([await trial.inDocker(), leftovers(installation)]).toEqual([volumes, []]);
    for (const step of ['fill', 'write-definition']) {
      expect(await killedAt(installation, embedded, step)).toBe('filling');
      await settleMove(installation);
      await expectLeft(installation, volumes);
      expect(readFileSync(installation.definitionFile, 'utf8')).toContain('\nengine: docker\n');
    }
    await moveTo(installation, embedded);
    await expectOriginal(installation);
    expect(await killedMove(installation, { verb: 'undo', step: 'fill' })).toBe('SIGKILL');
    await settleMove(installation);
    await expectLeft(installation, volumes);
  });
});
