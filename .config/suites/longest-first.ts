import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Suites that take most of a minute or more. Suites with and without containers alternate, because those with
 * containers wait for one Docker. vitest itself orders by file size, which is small for a suite that imports its tests.
 */
const longest = [
  'stack/engines/docker/test/docker.test.ts',
  'stack/operations/move/test/move.test.ts',
  'stack/operations/move/test/containers.test.ts',
  'stack/operations/test/start-and-stop.test.ts',
  'stack/engines/docker/test/clusters.test.ts',
  'stack/test/whole-path.test.ts',
  'stack/test/processes.test.ts',
  'cli/test/backup.test.ts',
  'stack/engines/docker/test/full-disk.test.ts',
  'stack/operations/test/killed.test.ts',
  'stack/test/one-host.test.ts',
  'stack/test/secrets.test.ts',
  'stack/engines/docker/test/one-host.test.ts',
  'stack/operations/replace/test/change-nodes.test.ts',
  'stack/test/adversary/copied-folder.test.ts',
  'stack/test/acme.test.ts',
  'services/kit/bus/nats/cluster.test.ts',
  'stack/test/adversary/hostile-member.test.ts',
  'cli/test/move.test.ts',
];

/** Starts the longest suites first, so that no core is idle while the last one runs. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification) => {
      const rank = longest.indexOf(relative(this.ctx.config.root, moduleId));
      return rank === -1 ? longest.length : rank;
    };
    return (await super.sort(files)).toSorted((one, other) => rankOf(one) - rankOf(other));
  }
}
