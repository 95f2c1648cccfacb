import { readFileSync } from 'node:fs';
import { inWords } from '../../../services/contracts/system-words.ts';
import { readArchive } from '../../content/archive.ts';
import { engineFor, isSameEngine } from '../../engines/engine-of.ts';
import { planOf } from '../../engines/plan-of.ts';
import type { Plan } from '../../plan/plan.ts';
import { checkDefinition, readDefinition } from '../../settings/check.ts';
import type { Installation } from '../../state/installation.ts';
import { endAlone } from '../../state/left-processes.ts';
import { acquireLock } from '../../state/lock.ts';
import { archivedSecretsOf, putSecrets } from './archived-secrets.ts';
import { emptyElsewhere, emptyPlaces, fillPlaces, type PlacesAccess, placesOf } from './fill-places.ts';
import { forgetReplacement, keptFilesOf, type Replacement, writeDefinition } from './replacement.ts';

/** Ends a replacement that did not come to its end: the installation has the data before again. Can be repeated, and not interrupted. */
export async function takeBack(
  installation: Installation,
  state: Replacement,
  { env, onNotice }: Omit<PlacesAccess, 'signal'>,
): Promise<void> {
  await endAlone(installation);
  const { signal } = new AbortController();
  const access = { env, signal, onNotice };
  if (state.step !== 'keeping') {
    using _data = acquireLock(installation, 'platform');
    return await putBack(installation, state, access);
  }
  const from = planOf(installation, readDefinition(installation.definitionFile));
  const endLeft = async () => (await placesOf(from, access)).endLeft();
  await tolerate(endLeft, 'Nodes that read the data may still run', access);
  forgetReplacement(installation, state);
}

/** Fills the places before from the kept archive, which is read whole before anything is emptied. */
async function putBack(installation: Installation, state: Replacement, access: PlacesAccess): Promise<void> {
  const { signal } = access;
  const { secretsDir } = keptFilesOf(installation, state);
  const definitions = definitionsOf(installation, state);
  const from = planIn(installation, definitions.before);
  await refuseNoWayBack(installation, state, access);
  await emptyTarget(planIn(installation, definitions.after), state, access);
  if (state.archived.graph) await emptyElsewhere(from);
  const places = await placesOf(from, access);
  await fillPlaces({ plan: from, places, state, kinds: state.replaced, archive: null, signal });
  putSecrets(installation, archivedSecretsOf({ secretsDir }));
  if (state.command === 'move') writeDefinition(installation, readFileSync(definitions.before, 'utf8'));
  forgetReplacement(installation, state);
}

/** Throws if the data before cannot be filled in: a program is missing, or the kept archive is not whole. */
export async function refuseNoWayBack(
  installation: Installation,
  state: Replacement,
  { env, signal }: Pick<PlacesAccess, 'env' | 'signal'>,
): Promise<void> {
  const { archive } = keptFilesOf(installation, state);
  const before = planIn(installation, definitionsOf(installation, state).before);
  await engineFor(before.definition).check(before, env);
  if (Object.values(state.archived).includes(true)) await readArchive({ file: archive, passphrase: null }, signal);
}

/** Removes the new data. If another engine or an external graph holds it, the way back does not wait for the removal. */
async function emptyTarget(to: Plan, state: Replacement, access: PlacesAccess): Promise<void> {
  const empty = async () => {
    const places = await placesOf(to, access);
    await places.endLeft();
    await emptyPlaces(places, state, state.replaced);
  };
  if (isSameEngine(state.from, state.to)) await empty();
  else await tolerate(empty, 'The new data is still there, where the platform has no use for it any more', access);
  const { filled } = state.elsewhere;
  if (filled === null) return;
  const stays = `The new data in the Dgraph at ${filled} is still there`;
  await tolerate(() => emptyElsewhere(to), stays, access);
}

async function tolerate(work: () => Promise<void>, what: string, { onNotice }: PlacesAccess): Promise<void> {
  await work().catch((error: unknown) => onNotice(`${what}: ${inWords(error)}`));
}

/** The files with svc.yaml before and after the replacement. Only a move changes it. */
function definitionsOf(installation: Installation, state: Replacement) {
  const { definition, newDefinition } = keptFilesOf(installation, state);
  const { definitionFile } = installation;
  return state.command === 'move'
    ? { before: definition, after: newDefinition }
    : { before: definitionFile, after: definitionFile };
}

function planIn(installation: Installation, file: string): Plan {
  return planOf(installation, checkDefinition(readFileSync(file, 'utf8'), file));
}
