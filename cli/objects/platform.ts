import { nearest } from '../../services/contracts/did-you-mean.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import { oneLine } from '../../services/contracts/one-line.ts';
import { shellWord } from '../../services/contracts/shell-word.ts';
import { type BackendClient, connectToBackend, type OperatorClient } from '../../stack/client/backend-client.ts';
import { workspaceNamesQuery, workspaceQuery } from '../../stack/client/generated/operations.ts';
import { refuseForeignFolder } from '../../stack/place/refuse-foreign-folder.ts';
import { getInstallation, type Installation } from '../../stack/state/installation.ts';
import { firstWorkspace, workspaceInUse } from '../../stack/state/workspace-in-use.ts';
import { environment, type SharedFlags } from '../command.ts';
import { openTerminal, type Terminal } from '../output/terminal.ts';

export function installationOf(flags: SharedFlags): Installation {
  const installation = getInstallation({ dir: flags.dir, env: environment, cwd: process.cwd() });
  refuseForeignFolder(installation, typedFor(installation));
  return installation;
}

/** The typed command for that folder, up to its first flag. Later words may be secret. */
export function typedFor({ dir }: Installation): string {
  const typed = process.argv.slice(2);
  const end = typed.findIndex((word) => word.startsWith('-'));
  const words = end === -1 ? typed : typed.slice(0, end);
  return ['svc', ...words.map(shellWord), '--dir', shellWord(dir)].join(' ');
}

/** A running platform and one workspace of it. */
export interface Tenancy {
  readonly backend: OperatorClient;
  readonly workspace: { readonly id: string; readonly name: string };
}

/** The workspace that `--workspace` or SVC_WORKSPACE names, else the one in use. Names it when it is not obvious. */
export async function tenancyOf(flags: SharedFlags & { readonly workspace?: string | undefined }): Promise<Tenancy> {
  const installation = installationOf(flags);
  const backend = await connectToBackend(installation);
  const inUse = workspaceInUse.read(installation)?.name ?? firstWorkspace;
  const { workspace: found } = await backend.send(workspaceQuery, { name: flags.workspace ?? inUse });
  if (found === null) {
    const error = await unknownWorkspace(backend, flags.workspace ?? inUse);
    throw flags.workspace === undefined ? noLongerInUse(error) : error;
  }
  const workspace = { ...found, name: oneLine(found.name) };
  const isTyped = flags.workspace !== undefined && flags.workspace !== environment.SVC_WORKSPACE;
  if (!isTyped && workspace.name !== firstWorkspace) terminalFor(flags).talk(`In the workspace ${workspace.name}.`);
  return { backend, workspace };
}

/** The address of the running remote-mcp for agents. */
export async function remoteMcpOf(flags: SharedFlags): Promise<URL> {
  // Loaded on use: it needs the engines and svc.yaml, and most commands need only the backend.
  const { status } = await import('../../stack/operations/status.ts');
  return new URL((await status({ installation: installationOf(flags) })).urls.mcp);
}

function noLongerInUse({ code, message, hint = '' }: SvcError): SvcError {
  return new SvcError(code, `${message} It is the workspace in use.`, {
    hint: `${hint}\nUse another: svc workspace use NAME`,
  });
}

export async function unknownWorkspace(backend: BackendClient, name: string): Promise<SvcError> {
  const { workspaces } = await backend.send(workspaceNamesQuery, {});
  return notFound(
    'workspace',
    name,
    workspaces.nodes.map((workspace) => workspace.name),
  );
}

interface NamedObject {
  readonly id: string;
  readonly name: string;
}

/** Finds by name or id. The error for an unknown name suggests the nearest. */
export function named<Thing extends NamedObject>(kind: string, things: readonly Thing[], given: string): Thing {
  const found = things.find(({ id, name }) => name === given || id === given);
  if (found !== undefined) return found;
  throw notFound(
    kind,
    given,
    things.map(({ name }) => name),
  );
}

/** "There is no skill "x"", with the nearest name or those that exist. */
function notFound(kind: string, name: string, existing: readonly string[]): SvcError {
  const meant = nearest(name, existing);
  const known = existing.slice(0, 20).join(', ');
  return new SvcError('not_found', `There is no ${kind} "${name}".`, {
    hint: meant !== null ? `Did you mean "${meant}"?` : known === '' ? `There is none yet.` : `There are: ${known}.`,
  });
}

/** For talk of a command that has no terminal of its own here. */
function terminalFor(flags: SharedFlags): Terminal {
  const { stdin, stdout, stderr } = process;
  const asTyped = (text: string) => text;
  return openTerminal(
    { json: flags.json, quiet: flags.quiet, noInput: flags['no-input'] },
    { stdin, stdout, stderr, env: environment, asTyped },
  );
}
