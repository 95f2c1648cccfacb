import { afterAll, beforeAll, expect } from 'vitest';
import { openTrial } from '../../stack/operations/test/trial.ts';
import { type Run, runSvc } from './run-svc.ts';

export interface RunningPlatform {
  /** Folder of the installation; there is none before the tests begin. */
  dir(): string;
  /** Types `svc` in that folder. */
  svc(...args: string[]): Promise<Run>;
}

/** For the tests of one file: an installation of its own, whose platform runs until all of them are done. */
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
