import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SvcError, toSvcError } from '../../services/contracts/errors.ts';
import { withoutHidden } from '../../services/contracts/hidden-characters.ts';
import { Secret } from '../../services/contracts/secret.ts';
import { apply } from '../apply/apply.ts';
import { findProblems } from '../apply/find-problems.ts';
import { readApplyFile } from '../apply/read-file.ts';
import { type BackendClient, connectToBackend } from '../client/backend-client.ts';
import { findFirstSignIn } from '../client/first-sign-in.ts';
import { createKeyMutation, revokeKeyMutation, workspaceQuery } from '../client/generated/operations.ts';
import type { Urls } from '../lifecycle/urls.ts';
import { createInstallation } from '../operations/create-installation.ts';
import { up } from '../operations/up.ts';
import { refuseForeignFolder } from '../place/refuse-foreign-folder.ts';
import { fileFailure } from '../state/file-failure.ts';
import { compileCacheOf, type Installation, installationIn } from '../state/installation.ts';

/** `npm start`: an installation with a demo in ./svc, in the foreground, until Ctrl-C. */

/** A small MCP server, two skills and a role: enough for an agent to call something. */
const demoFile = join(fileURLToPath(new URL('../../templates/demo', import.meta.url)), 'platform.yaml');
const workspaceName = 'Default';
const keyName = 'demo';

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
  // A file or a log would keep the link.
  const signIn = process.stdout.isTTY ? await findFirstSignIn(installation) : null;
  if (signIn !== null) process.stdout.write(`\n${signIn}\n`);
}

function greeting({ app, api, mcp }: Urls, { key, isReplaced }: Awaited<ReturnType<typeof setUpDemo>>): string {
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

async function setUpDemo(backend: BackendClient, signal: AbortSignal) {
  const { plans } = await apply({ backend, files: [readApplyFile(demoFile, {})], signal });
  for (const { message, hint } of await findProblems({ backend, plans, signal }))
    throw new SvcError('unavailable', message, { hint });
  const { workspace } = await backend.send(workspaceQuery, { name: workspaceName }, { signal });
  if (workspace === null) throw new Error(`a platform without the workspace ${workspaceName}`);
  return replaceKey(backend, workspace.id, signal);
}

async function replaceKey(backend: BackendClient, workspace: string, signal: AbortSignal) {
  let isReplaced = true;
  try {
    await backend.send(revokeKeyMutation, { workspace, key: keyName }, { signal });
  } catch (error) {
    // The first start finds none.
    if (!(error instanceof SvcError) || error.code !== 'not_found') throw error;
    isReplaced = false;
  }
  const { createKey } = await backend.send(createKeyMutation, { workspace, input: { name: keyName } }, { signal });
  return { key: new Secret(createKey.secret), isReplaced };
}
