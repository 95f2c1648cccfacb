import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Suites that take most of a minute or more. Some wait for processes most of the time and use less than half of a core;
 * those with Chromium or many commands use almost a whole one. They alternate, so that the cores are neither idle nor
 * crowded. Suites with containers are apart, because they wait for one Docker. vitest itself orders by file size, which
 * is small for a suite that imports its tests.
 */
const longest = [
  'stack/engines/docker/test/docker.test.ts',
  'cli/test/examples.test.ts',
  'cli/test/killed-start.test.ts',
  'stack/test/processes.test.ts',
  'stack/operations/move/test/move.test.ts',
  'stack/operations/test/start-and-stop.test.ts',
  'services/frontend/test/application.test.ts',
  'stack/engines/docker/test/clusters.test.ts',
  'stack/test/whole-path.test.ts',
  'services/frontend/test/watch.test.ts',
  'stack/operations/move/test/containers.test.ts',
  'cli/test/backup.test.ts',
  'services/frontend/test/people.test.ts',
  'stack/engines/docker/test/full-disk.test.ts',
  'stack/test/adversary/hostile-provider.test.ts',
  'services/frontend/test/integrations.test.ts',
  'services/kit/bus/nats/cluster.test.ts',
  'services/frontend/test/skills.test.ts',
  'stack/engines/docker/test/one-host.test.ts',
  'stack/operations/replace/test/change-nodes.test.ts',
  'cli/test/failed-start.test.ts',
  'stack/test/full-disks.test.ts',
  'stack/engines/process/test/take-over.test.ts',
  'services/frontend/test/roles.test.ts',
  'stack/operations/test/killed.test.ts',
  'cli/test/hints-at-work.test.ts',
  'stack/engines/docker/test/engine.test.ts',
  'stack/test/one-host.test.ts',
  'stack/test/secrets.test.ts',
  'stack/test/adversary/copied-folder.test.ts',
  'stack/test/acme.test.ts',
  'stack/test/adversary/hostile-member.test.ts',
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
