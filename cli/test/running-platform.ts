import { afterAll, beforeAll, expect } from 'vitest';
import { openTrial } from '../../stack/operations/test/trial.ts';
import { type Run, runSvc } from './run-svc.ts';

export interface RunningPlatform {
  /** Folder of the installation, which does not exist before the tests begin. */
  dir(): string;
  /** Runs `svc` in that folder. */
  svc(...args: string[]): Promise<Run>;
}

/** A separate installation for the tests of one file. Its platform runs until all of them have ended. */
export function withRunningPlatform(): RunningPlatform {
  let trial: Awaited<ReturnType<typeof openTrial>> | null = null;
  const dir = () => trial?.installation.dir ?? expect.fail('The platform is there from the first test on.');
  const svc = (...args: string[]) => runSvc(args, { cwd: dir() });
  beforeAll(async () => {
    trial = await openTrial();
    const { code, stderr } = await svc('up');
    expect(stderr + code).toMatch(/0$/);
  }, 120_000);
  afterAll(() => trial?.[Symbol.asyncDispose](), 120_000);
  return { dir, svc };
}
