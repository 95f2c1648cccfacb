import { chmodSync } from 'node:fs';
import { flushCompileCache, getCompileCacheDir } from 'node:module';
import { parseArgs } from 'node:util';
import { SvcError } from '../../../services/contracts/errors.ts';
import { withoutHidden } from '../../../services/contracts/hidden-characters.ts';
import { platformLine } from '../../logs/platform-logs.ts';
import { withSearchPath } from '../../plan/search-path.ts';
import { parsePorts } from '../../ports/port-lease.ts';
import { readDefinition } from '../../settings/check.ts';
import { fileFailure } from '../../state/file-failure.ts';
import { installationIn } from '../../state/installation.ts';
import { leaveFailure, StartFailure } from './failure.ts';
import { runPlatform } from './run-platform.ts';
import { planOnThisMachine } from './site.ts';

/** The process that holds a platform. `svc up` starts it, SIGTERM stops it. */

/** A stop is cut short after this time. State is safe at any moment. */
const stopDeadlineMs = { embedded: 10_000, distributed: 50_000 } as const;

const { values } = parseArgs({
  options: {
    dir: { type: 'string' },
    ports: { type: 'string' },
    'started-by': { type: 'string' },
    restart: { type: 'string', multiple: true, default: [] },
  },
});
const { dir, ports, 'started-by': starter, restart } = values;
if (dir === undefined || ports === undefined || starter === undefined) {
  throw new SvcError('invalid_input', 'The platform needs --dir, --ports and --started-by, which svc up passes.');
}
const installation = installationIn(dir);
const definition = readDefinition(installation.definitionFile);
const stopping = new AbortController();
// Node made the folder before this line ran.
const compileCache = getCompileCacheDir();
if (compileCache !== undefined) chmodSync(compileCache, 0o700);

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (stopping.signal.aborted) return;
    stopping.abort();
    setTimeout(() => process.exit(1), stopDeadlineMs[definition.topology]).unref();
  });
}

process.on('uncaughtException', (error) => {
  // A process in an unknown state must end in any case.
  try {
    // Standard error is the log.
    process.stderr.write(platformLine('error', 'crashed', { err: { message: error.message, stack: error.stack } }));
    leaveFailure(installation, new StartFailure('platform', 'run', error));
  } finally {
    process.exit(1);
  }
});

try {
  await runPlatform({
    plan: withSearchPath(planOnThisMachine(installation, definition, parsePorts(ports)), process.env),
    env: process.env,
    restart: new Set(restart),
    foreground: false,
    // If the command was killed before its platform was visible, the platform must not come up after `svc down`.
    isWanted: () => process.ppid === Number(starter),
    signal: stopping.signal,
    onChange: ({ services }) => {
      // Node writes the cache only at a normal exit, and a killed process has none.
      if (services.every(({ state }) => state === 'healthy')) flushCompileCache();
    },
  });
  process.exitCode = 0;
} catch (error) {
  // A failed step of the start is recorded already.
  if (fileFailure(error) !== null) leaveFailure(installation, new StartFailure('platform', 'start', error));
  console.error(withoutHidden(error instanceof Error ? error.message : String(error)));
  process.exit(1);
}
