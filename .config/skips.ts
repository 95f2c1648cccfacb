import type { AllowedSkip } from './suites/verdict.ts';

/** Every test that may be skipped, and why. A skip that is not here fails `npm test`, and so does one of a program that is there. */
export const skips: readonly AllowedSkip[] = [
  {
    pattern: /(full-disks?\.test\.ts > |faults\.test\.ts > a disk that gets full)/,
    reason: 'Only root may mount a disk small enough to be filled.',
  },
  {
    pattern: /stack\/test\/(secrets\.test\.ts > whatever runs|misbehaving-servers\.test\.ts > one that is killed)/,
    reason: 'Arguments and environments of other processes can be read on Linux only, in /proc.',
  },
  {
    pattern: /cli\/test\/move\.test\.ts > on a real server > and through one to Dgraph/,
    reason: 'A move to Dgraph needs dgraph and nats-server; the first is in no package registry.',
    programs: ['dgraph', 'nats-server'],
  },
  {
    pattern:
      /(services\/kit\/bus\/nats|stack\/(runtime-elsewhere|move|bus)\/test|cli\/test)\/[a-z-]+\.test\.ts > on a real server|killed-runtime\.test\.ts > on a real bus/,
    reason: 'The program nats-server is not installed on every machine; CI installs it.',
    programs: ['nats-server'],
  },
  {
    pattern: /stack\/test\/(whole-path\.test\.ts > distributed|replicas\.test\.ts > three of each,) with Dgraph/,
    reason: 'A platform with Dgraph needs dgraph and nats-server; the first is in no package registry.',
    programs: ['dgraph', 'nats-server'],
  },
  {
    pattern: /stack\/test\/(whole-path\.test\.ts > distributed|processes\.test\.ts > on a real server)/,
    reason:
      'A platform of several processes needs nats-server, which is not installed on every machine; CI installs it.',
    programs: ['nats-server'],
  },
  {
    pattern: /stack\/move\/test\/dgraph\.test\.ts > on a real Dgraph/,
    reason: 'A move to Dgraph needs dgraph and nats-server; the first is in no package registry.',
    programs: ['dgraph', 'nats-server'],
  },
  {
    pattern: /stack\/graph\/test\/dgraph(-cluster)?\.test\.ts > on a real Dgraph/,
    reason:
      'The program dgraph is in no package registry: what is asked of a real one is asked where it is on the path.',
    programs: ['dgraph'],
  },
  {
    pattern: /stack\/(front\/test\/(caddy|one-host)|test\/(front|one-host))\.test\.ts > through Caddy/,
    reason: 'The program caddy, and nats-server beside it, is not installed on every machine; CI installs both.',
    programs: ['caddy', 'nats-server'],
  },
  {
    pattern: /services\/backend\/(graph\/dgraph\/.*|files\/keep-blobs)\.test\.ts > on a real cluster/,
    reason: 'The program dgraph is in no package registry: its suites run where it is on the path.',
    programs: ['dgraph'],
  },
  {
    pattern:
      /(services\/runtime\/test\/(sandbox|contained)|cli\/test\/sandbox)\.test\.ts > .*\bin a (container|sandbox of 'container')/,
    reason: 'Only a Docker that SVC_TEST_DOCKER_HOST names is used by tests; CI starts one (.ci/docker).',
  },
  {
    pattern: /(services\/runtime\/test\/sandbox(ed-lives)?|cli\/test\/sandbox)\.test\.ts > /,
    reason:
      'The program bwrap is not installed on every machine, and not every system lets it make namespaces; CI installs it.',
  },
  {
    pattern: /stack\/front\/check-front-ports\.test\.ts > .* that are root's/,
    reason: "Where ports below 1024 are everybody's, as in many containers and on macOS, nobody is refused one.",
  },
  {
    pattern: /stack\/test\/acme\.test\.ts > with an authority/,
    reason:
      'The program pebble, an authority to get certificates from, is not installed on every machine, nor are caddy and nats-server; CI installs them.',
    programs: ['pebble', 'caddy', 'nats-server'],
  },
  {
    pattern:
      /stack\/engines\/docker\/test\/(docker|run-alone|clusters|daemon-restart\.alone)\.test\.ts > (alone |clusters )?on a real Docker/,
    reason: 'Only a Docker that SVC_TEST_DOCKER_HOST names is used by tests; CI starts one (.ci/docker).',
  },
  {
    pattern:
      /stack\/(engines\/docker\/test\/(dgraph(-clusters)?|run-alone|daemon-restart\.alone)\.test\.ts > (clusters of )?Dgraph (alone )?on a real Docker|test\/whole-path\.test\.ts > containers with Dgraph)/,
    reason:
      'Dgraph is in no package registry: a Docker that SVC_TEST_DOCKER_HOST names, and its image there or the program dgraph on the path, are needed.',
    programs: ['dockerd', 'dgraph'],
  },
  {
    // Behind the entry for nats-server, which is the reason where that is missing.
    pattern: /stack\/test\/processes\.test\.ts > on a real server > nothing answers/,
    reason: 'What a process listens on can be read on Linux only, in /proc.',
  },
];
