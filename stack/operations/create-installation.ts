import { basename, dirname, relative, resolve, sep } from 'node:path';
import { SvcError } from '../../services/contracts/errors.ts';
import { randomText } from '../../services/contracts/ids.ts';
import { ensureFolders } from '../secrets/ensure-folders.ts';
import { checkDefinition, readDefinition } from '../settings/check.ts';
import type { ListenerName } from '../settings/choices.ts';
import { settings } from '../settings/settings.ts';
import { writeSettings } from '../settings/write.ts';
import { writeIfAbsent } from '../state/durable-file.ts';
import { makeFolder } from '../state/folder.ts';
import {
  type CreationStep,
  type Installation,
  installationAround,
  installationIn,
  ownFolders,
} from '../state/installation.ts';
import { writePlace } from '../state/place-record.ts';
import type { WantedSide } from './replace/side.ts';

/** What may be chosen when an installation is made; everything else is in its svc.yaml. */
export interface NewInstallation extends WantedSide {
  readonly dir: string;
  /** Default: the name of the folder or, where that is `svc`, of the one around it. */
  readonly name?: string;
  readonly ownerEmail?: string;
  readonly ports?: Readonly<Partial<Record<ListenerName, number>>>;
}

/** Returns what became of each file and folder: nothing that exists is changed, but for file modes that are too open. */
export async function createInstallation(wanted: NewInstallation) {
  const installation = installationIn(resolve(wanted.dir));
  const { ownerEmail, topology, graph, engine, ports } = wanted;
  const text = writeSettings(settings, {
    id: randomText(16).toLowerCase(),
    name: wanted.name ?? nameFor(installation.dir),
    owner: { email: ownerEmail },
    ...{ topology, graph, engine, ports },
  });
  // A wrong choice is refused before anything is written.
  refuseInside(installation);
  refuseOwner(wanted.ownerEmail);
  checkDefinition(text, installation.definitionFile);
  // Whatever the umask says: a folder that others can change is refused.
  makeFolder(installation.dir, 0o755);
  const outcome = writeIfAbsent(installation.definitionFile, text, 0o644) ? 'created' : 'kept';
  const definition = readDefinition(installation.definitionFile);
  const path = basename(installation.definitionFile);
  const steps: readonly CreationStep[] = [{ path, outcome }, ...ensureFolders(installation, definition)];
  if (outcome === 'created') writePlace(installation, definition.id);
  return { installation, steps };
}

/** The folders of an installation go with everything in them when it is destroyed. */
function refuseInside({ dir }: Installation): void {
  const around = installationAround(dirname(dir));
  if (around === null) return;
  const [first = ''] = relative(around, dir).split(sep);
  if (!ownFolders.has(first) && first !== basename(installationIn(around).secretsDir)) return;
  throw new SvcError(
    'invalid_input',
    `"${dir}" is in ${first}/ of the installation in "${around}", and would be removed with it.`,
    {
      hint: 'Choose a folder elsewhere: svc init DIR',
    },
  );
}

/** Has its own message, because the file that the address would be written to does not exist yet. */
function refuseOwner(email: string | undefined): void {
  const { rule } = settings.parts.owner.parts.email;
  if (email === undefined || rule.safeParse(email).success) return;
  throw new SvcError('invalid_input', `The owner must be given by ${rule.description}, not "${email}".`, {
    hint: 'Such as: svc init --owner-email ops@example.com',
  });
}

function nameFor(dir: string): string {
  const own = basename(dir);
  const name = (own === 'svc' ? basename(dirname(dir)) : own)
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '');
  return name.slice(0, 63) || 'svc';
}
