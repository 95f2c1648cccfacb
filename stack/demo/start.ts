import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { toSvcError } from '../../services/contracts/errors.ts';
import { withoutHidden } from '../../services/contracts/hidden-characters.ts';
import { connectToBackend } from '../client/backend-client.ts';
import type { Urls } from '../lifecycle/urls.ts';
import { createInstallation } from '../operations/create-installation.ts';
import { up } from '../operations/up.ts';
import { refuseForeignFolder } from '../place/refuse-foreign-folder.ts';
import { fileFailure } from '../state/file-failure.ts';
import { compileCacheOf, type Installation, installationIn } from '../state/installation.ts';
import { type DemoKey, setUpDemo } from './demo.ts';

/** `npm start`: an installation with a demo in ./svc, in the foreground, until Ctrl-C. */

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (stopping.signal.aborted) process.exit(130);
    stopping.abort();
  });
}
// A closed terminal sends the signal twice, from the system and from the shell.
process.on('SIGHUP', () => stopping.abort());

// A closed terminal takes no more output.
process.stdout.on('error', () => undefined);

try {
  await startDemo();
} catch (thrown) {
  const error = fileFailure(thrown) ?? toSvcError(thrown);
  const text = error.cause instanceof Error && error.code === 'internal' ? error.cause.message : error.message;
  process.stderr.write(withoutHidden(`${text}\n${error.hint === undefined ? '' : `${error.hint}\n`}`));
  process.exitCode = 1;
}

async function startDemo(): Promise<void> {
  const dir = join(process.cwd(), 'svc');
  refuseForeignFolder(installationIn(dir), 'npm start');
  const { installation } = await createInstallation({ dir });
  enableCompileCache(compileCacheOf(installation));
  const { signal } = stopping;
  let failure: unknown = null;
  let demo = Promise.resolve();
  await up({
    installation,
    env: process.env,
    foreground: true,
    signal,
    onProgress(progress) {
      if (progress.kind === 'notice') process.stderr.write(`${withoutHidden(progress.message)}\n`);
      if (progress.kind !== 'ready') return;
      demo = openDemo(installation, progress.status.urls).catch((error: unknown) => {
        if (signal.aborted) return;
        failure = error;
        stopping.abort();
      });
    },
  });
  await demo;
  if (failure !== null) throw failure;
  process.stdout.write('\nStopped; all data stays in ./svc.\n');
}

async function openDemo(installation: Installation, urls: Urls): Promise<void> {
  const backend = await connectToBackend(installation);
  process.stdout.write(greeting(urls, await setUpDemo(backend, stopping.signal)));
}

function greeting({ app, api, mcp }: Urls, { key, isReplaced }: DemoKey): string {
  const authorization = `Authorization: Bearer ${key.reveal()}`;
  const json = {
    mcpServers: { platform: { type: 'http', url: mcp, headers: { Authorization: `Bearer ${key.reveal()}` } } },
  };
  return `
The platform is running. Ctrl-C stops it; all data stays in ./svc.

  app   ${app}
  api   ${api}
  mcp   ${mcp}      agents connect here
  key   ${key.reveal()}      made by this start${isReplaced ? '; the previous one is revoked' : ''}

Connect Claude Code:

  claude mcp add --transport http platform ${mcp} --header "${authorization}"

Connect another agent, in the file where it lists its MCP servers:

${JSON.stringify(json, null, 2).replace(/^/gm, '  ')}
`;
}
