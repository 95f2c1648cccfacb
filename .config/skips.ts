import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { findOldNode } from '../cli/test/old-node.ts';
import { hasTerminal } from '../cli/test/run-at-terminal.ts';
import { canIsolateNetwork } from '../services/runtime/test/isolated-network.ts';
import { hasChromium } from '../stack/test/browser.ts';
import { canMount } from '../stack/test/small-disk.ts';
import type { AllowedSkip } from './suites/verdict.ts';

const docker = process.env.SVC_TEST_DOCKER_HOST ?? null;
const processesAreShown = existsSync('/proc/self/environ');

/** Every test that may be skipped, with its reason. `npm test` fails for any other skip, and for a listed one whose program is present. */
export const skips: readonly AllowedSkip[] = [
  {
    pattern: /stack\/engines\/docker\/test\/full-disk\.test\.ts > /,
    reason: 'Only a Docker that SVC_TEST_DOCKER_HOST names is used by tests; CI starts one (.ci/docker).',
    isHere: docker !== null,
  },
  {
    pattern: /stack\/test\/servers-of-others\.test\.ts > .*"playwright"/,
    reason: 'It needs SVC_TEST_MCP_SERVERS as below, and Chromium, a package of the system.',
    isHere: process.env.SVC_TEST_MCP_SERVERS !== undefined && hasChromium,
  },
  {
    pattern: /stack\/test\/servers-of-others\.test\.ts > /,
    reason: 'SVC_TEST_MCP_SERVERS names a folder that .ci/mcp-servers filled from npm and PyPI; CI fills one.',
    isHere: process.env.SVC_TEST_MCP_SERVERS !== undefined,
  },
  {
    pattern: /stack\/test\/(clients-of-others|sign-in-of-others|conformance|conformance-of-integrations)\.test\.ts > /,
    reason: 'SVC_TEST_MCP_CLIENTS names a folder that .ci/mcp-clients filled from npm and PyPI; CI fills one.',
    isHere: process.env.SVC_TEST_MCP_CLIENTS !== undefined,
  },
  {
    pattern: /stack\/test\/full-disks\.test\.ts > a full disk of the bus/,
    reason: 'The program nats-server is not installed on every machine; CI installs it.',
    isHere: onPath('nats-server'),
  },
  {
    pattern: /stack\/test\/full-disks\.test\.ts > a Dgraph/,
    reason: 'A platform with Dgraph needs dgraph and nats-server; the first is in no package registry.',
    isHere: onPath('dgraph', 'nats-server'),
  },
  {
    pattern: /stack\/test\/page\.test\.ts > the page in Chromium/,
    reason: 'The page is tested in Chromium, a package of the system.',
    isHere: hasChromium,
  },
  ...['zsh', 'fish'].map((shell) => ({
    pattern: new RegExp(`cli/test/completion\\.test\\.ts > ${shell} > `),
    reason: `The completion of ${shell} is tested in ${shell}, which is not installed on every machine; CI installs it.`,
    isHere: onPath(shell),
  })),
  {
    pattern: /cli\/test\/failed-start\.test\.ts > .* the folder of the data is read-only/,
    reason: 'Only root may mount a folder read-only.',
    isHere: canMount,
  },
  {
    pattern: /cli\/test\/failed-start\.test\.ts > .* a process may open too few files/,
    reason: 'The limit of open files can be read on Linux only, in /proc.',
    isHere: processesAreShown,
  },
  {
    // After the entries for the programs that the disk of a test is for.
    pattern:
      /(full-disks?\.test\.ts > |mistakes\.test\.ts > a file system that is read-only|folder-blobs\.test\.ts > a full disk|cli\/test\/backup\.test\.ts > .* disk without room)/,
    reason: 'Only root may mount a disk small enough to be filled, or one that is read-only.',
    isHere: canMount,
  },
  {
    pattern:
      /(copied-folder|place)\.test\.ts > a folder of another user|mistakes\.test\.ts > .* a home that another user|file-failure\.test\.ts > another user's|(known-installations|process-mark)\.test\.ts > .* for root|services\/runtime\/test\/sandbox\.test\.ts > a write in \/proc/,
    reason: 'Only root may give files to another user, and write to /proc.',
    isHere: process.geteuid?.() === 0,
  },
  {
    pattern: /stack\/ports\/ports\.test\.ts > a program at the other address of localhost/,
    reason: 'Not every machine has IPv6.',
    isHere: Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ family }) => family === 'IPv6')),
  },
  {
    pattern:
      /stack\/test\/secrets\.test\.ts > whatever runs|stack\/state\/process-mark\.test\.ts > a process is found|cli\/test\/all-installations\.test\.ts > an installation that runs/,
    reason: 'Arguments and environments of other processes can be read on Linux only, in /proc.',
    isHere: processesAreShown,
  },
  {
    pattern:
      /cli\/test\/(move\.test\.ts > on a real server > and through a move to Dgraph|backup-elsewhere\.test\.ts > distributed with dgraph)/,
    reason: 'A platform with Dgraph needs dgraph and nats-server; the first is in no package registry.',
    isHere: onPath('dgraph', 'nats-server'),
  },
  {
    pattern:
      /(services\/kit\/bus\/nats|stack\/(operations\/move|content|bus|engines\/process)\/test|cli\/test)\/[a-z-]+\.test\.ts > on a real server|killed-runtime\.test\.ts > on a real bus|(lost-bus|persistent-messaging)\.test\.ts > on a real server|backup-elsewhere\.test\.ts > distributed with sqlite/,
    reason: 'The program nats-server is not installed on every machine; CI installs it.',
    isHere: onPath('nats-server'),
  },
  {
    pattern: /stack\/test\/(whole-path\.test\.ts > distributed|replicas\.test\.ts > three of each,) with Dgraph/,
    reason: 'A platform with Dgraph needs dgraph and nats-server; the first is in no package registry.',
    isHere: onPath('dgraph', 'nats-server'),
  },
  {
    pattern: /stack\/test\/(whole-path\.test\.ts > distributed|processes\.test\.ts > on a real server)/,
    reason:
      'A platform of several processes needs nats-server, which is not installed on every machine; CI installs it.',
    isHere: onPath('nats-server'),
  },
  {
    pattern:
      /stack\/test\/adversary\/(hostile-(agent|mcp-server)\.alone|hostile-(provider|settings)|limited-agent)\.test\.ts > distributed > /,
    reason: 'On a second topology, these tables take four more minutes: SVC_TEST_EVERY_TOPOLOGY=1 runs them there.',
    isHere: process.env.SVC_TEST_EVERY_TOPOLOGY === '1' && onPath('nats-server'),
  },
  {
    pattern: /stack\/test\/adversary\/hostile-[a-z-]+(\.alone)?\.test\.ts > (distributed|on a real server) > /,
    reason:
      'A platform of several processes needs nats-server, which is not installed on every machine; CI installs it.',
    isHere: onPath('nats-server'),
  },
  {
    pattern:
      /stack\/(operations\/move\/test\/dgraph\.test\.ts > on|test\/adversary\/lost-node\.test\.ts > a node of) a real Dgraph/,
    reason: 'These tests need dgraph and nats-server; dgraph is in no package registry.',
    isHere: onPath('dgraph', 'nats-server'),
  },
  {
    pattern: /stack\/graph\/test\/dgraph(-cluster)?\.test\.ts > (on a real Dgraph|coordination nodes join)/,
    reason: 'The program dgraph is in no package registry: tests on a real one need it on the PATH.',
    isHere: onPath('dgraph'),
  },
  {
    pattern: /stack\/(parts\/test\/(caddy|one-host)|test\/one-host)\.test\.ts > through Caddy/,
    reason: 'The program caddy, and nats-server beside it, is not installed on every machine; CI installs both.',
    isHere: onPath('caddy', 'nats-server'),
  },
  {
    pattern: /services\/backend\/(graph\/dgraph\/.*|files\/keep-blobs)\.test\.ts > on a real cluster/,
    reason: 'The program dgraph is in no package registry: its suites need it on the PATH.',
    isHere: onPath('dgraph'),
  },
  {
    pattern:
      /(services\/runtime\/test\/(sandbox|contained|never-mounted)|cli\/test\/sandbox)\.test\.ts > .*\bin a (container|sandbox of 'container')/,
    reason: 'Only a Docker that SVC_TEST_DOCKER_HOST names is used by tests; CI starts one (.ci/docker).',
    isHere: docker !== null,
  },
  {
    pattern:
      /(services\/runtime\/test\/(caches|sandbox(ed-lives)?|never-mounted|members)|cli\/test\/sandbox|stack\/test\/adversary\/hostile-(member|mcp-server))\.test\.ts > /,
    reason:
      'The program bwrap is not installed on every machine, and not every system lets it make namespaces; CI installs it.',
    isHere: canSandbox(),
  },
  {
    pattern: /services\/runtime\/test\/addresses\.test\.ts > in a network of its own > /,
    reason: 'Not every system lets a user make a network with unshare(1).',
    isHere: canIsolateNetwork,
  },
  {
    pattern: /stack\/engines\/process\/check-programs\.test\.ts > .* that are root's/,
    reason: 'In many containers and on macOS, every user may listen on ports below 1024.',
    isHere: firstPortOfEverybody() > 81,
  },
  {
    pattern: /stack\/test\/acme\.test\.ts > with an authority/,
    reason:
      'The programs pebble (an ACME certificate authority), caddy and nats-server are not on every machine; CI installs them.',
    isHere: onPath('pebble', 'caddy', 'nats-server'),
  },
  {
    pattern: /stack\/operations\/move\/test\/containers\.test\.ts > on a real Docker > from processes/,
    reason: 'A move from processes into containers needs nats-server beside a Docker that SVC_TEST_DOCKER_HOST names.',
    isHere: docker !== null && onPath('nats-server'),
  },
  {
    pattern:
      /stack\/(engines\/docker\/test\/(docker|run-alone|clusters|one-host|engine|daemon-restart\.alone)|operations\/move\/test\/containers)\.test\.ts > (alone |clusters |one host name )?on a real Docker|stack\/test\/whole-path\.test\.ts > containers >/,
    reason: 'Only a Docker that SVC_TEST_DOCKER_HOST names is used by tests; CI starts one (.ci/docker).',
    isHere: docker !== null,
  },
  {
    pattern:
      /stack\/((engines\/docker\/test\/(dgraph(-clusters|-lost-volumes)?|daemon-restart\.alone)|operations\/move\/test\/containers)\.test\.ts > (clusters of )?Dgraph on a real Docker|test\/whole-path\.test\.ts > containers with Dgraph)/,
    reason:
      'Dgraph is in no package registry: these tests need a Docker that SVC_TEST_DOCKER_HOST names, and its image there or dgraph on the PATH.',
    isHere: docker !== null && onPath('dgraph', 'curl'),
  },
  {
    // After the entries for Docker itself.
    pattern: /stack\/engines\/docker\/test\/daemon-restart\.alone\.test\.ts > /,
    reason: 'Only a Docker that .ci/docker started is stopped and started by tests.',
    isHere: docker !== null && existsSync(join(dirname(docker.slice('unix://'.length)), 'docker.pid')),
  },
  {
    pattern: /stack\/engines\/docker\/test\/one-host\.test\.ts > one host name with an authority/,
    reason:
      'The program pebble (an ACME certificate authority) and a Docker for tests are not on every machine; CI has both.',
    isHere: docker !== null && onPath('pebble'),
  },
  {
    pattern:
      /services\/(kit\/bus\/nats\/cluster|backend\/files\/(content|jetstream-blobs))\.test\.ts > (on three real servers|blobs )/,
    reason: 'The program nats-server is not installed on every machine; CI installs it.',
    isHere: onPath('nats-server'),
  },
  {
    pattern: /cli\/test\/[a-z-]+\.test\.ts > at a terminal/,
    reason: 'The program script of util-linux gives a test its own terminal; not every machine has it.',
    isHere: hasTerminal,
  },
  {
    pattern: /stack\/demo\/test\/demo\.test\.ts > on a terminal /,
    reason: 'The program script of util-linux gives a test its own terminal; not every machine has it.',
    isHere: hasTerminal,
  },
  {
    pattern: /cli\/test\/readme\.test\.ts > under the Node of this machine/,
    reason: 'The README is for machines whose own Node is older than 24; this one has none from 20 to 23, with npm.',
    isHere: findOldNode() !== null,
  },
  {
    // After the entry for nats-server, which gives the reason if that program is missing.
    pattern: /stack\/test\/processes\.test\.ts > on a real server > nothing answers/,
    reason: 'The ports of another process can be read on Linux only, in /proc.',
    isHere: processesAreShown,
  },
];

function onPath(...programs: readonly string[]): boolean {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return programs.every((program) => folders.some((folder) => existsSync(join(folder, program))));
}

function canSandbox(): boolean {
  return succeeds('bwrap', '--unshare-pid', '--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev', 'true');
}

function firstPortOfEverybody(): number {
  const file = '/proc/sys/net/ipv4/ip_unprivileged_port_start';
  return existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
}

function succeeds(program: string, ...args: readonly string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore', timeout: 10_000 });
    return true;
  } catch {
    return false;
  }
}
