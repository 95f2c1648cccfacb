import type { AllowedSkip } from './suites/verdict.ts';

/** Every test that may be skipped, and why. A skip that is not here fails `npm test`, and so does one of a program that is there. */
export const skips: readonly AllowedSkip[] = [
  {
    pattern: /(full-disk\.test\.ts > |faults\.test\.ts > a disk that gets full)/,
    reason: 'Only root may mount a disk small enough to be filled.',
  },
  {
    pattern: /stack\/test\/(secrets\.test\.ts > whatever runs|misbehaving-servers\.test\.ts > one that is killed)/,
    reason: 'Arguments and environments of other processes can be read on Linux only, in /proc.',
  },
  {
    pattern:
      /(services\/kit\/bus\/nats|stack\/(runtime-elsewhere|move)\/test|cli\/test)\/[a-z-]+\.test\.ts > on a real server|killed-runtime\.test\.ts > on a real bus/,
    reason: 'The program nats-server is not installed on every machine; CI installs it.',
    programs: ['nats-server'],
  },
  {
    pattern: /stack\/test\/(whole-path\.test\.ts > distributed|processes\.test\.ts > on a real server)/,
    reason:
      'A platform of several processes needs nats-server, which is not installed on every machine; CI installs it.',
    programs: ['nats-server'],
  },
  {
    pattern: /stack\/(front\/test\/caddy|test\/front)\.test\.ts > through Caddy/,
    reason: 'The program caddy, and nats-server beside it, is not installed on every machine; CI installs both.',
    programs: ['caddy', 'nats-server'],
  },
  {
    pattern: /stack\/engines\/docker\/test\/docker\.test\.ts > on a real Docker/,
    reason: 'Only a Docker that SVC_TEST_DOCKER_HOST names is used by tests; CI starts one (.ci/docker).',
  },
  {
    // Behind the entry for nats-server, which is the reason where that is missing.
    pattern: /stack\/test\/processes\.test\.ts > on a real server > nothing answers/,
    reason: 'What a process listens on can be read on Linux only, in /proc.',
  },
];
