import { createInstallation, type NewInstallation } from '../../stack/operations/create-installation.ts';
import { noteForUser } from '../../stack/operations/note-installation.ts';
import { readDefinition } from '../../stack/settings/check.ts';
import { environment } from '../command.ts';
import type { Terminal } from '../output/terminal.ts';
import type { Chosen } from '../typed/how-it-runs.ts';
import type { Given } from './answers.ts';

/** Creates what is missing, and says which answers an existing svc.yaml overrules. */
export async function create(dir: string, { chosen, ownerEmail }: Given, terminal: Terminal) {
  const created = await createInstallation({
    dir,
    ...(ownerEmail === undefined ? {} : { ownerEmail }),
    ...given(chosen),
  });
  noteForUser(created.installation, environment);
  for (const step of created.steps) {
    if (step.outcome === 'repaired')
      terminal.talk(`${terminal.paint('yellow', 'repaired')} ${step.path}${step.detail ? `: ${step.detail}` : ''}`);
  }
  const definition = readDefinition(created.installation.definitionFile);
  const { owner } = definition;
  if (ownerEmail !== undefined && ownerEmail !== owner.email) {
    terminal.warn(
      `The owner stays ${owner.email}, because svc.yaml exists already. You can change owner.email there until the first svc up.`,
    );
  }
  if ((chosen.engine ?? definition.engine) !== definition.engine) {
    terminal.warn(`engine stays ${definition.engine}, because svc.yaml exists already.`);
  }
  for (const field of ['topology', 'graph'] as const) {
    if ((chosen[field] ?? definition[field]) === definition[field]) continue;
    const { topology, graph } = { ...definition, ...given(chosen) };
    terminal.warn(
      `${field} stays ${definition[field]}, because svc.yaml exists already. To move the installation: svc move --to ${topology} --graph ${graph}`,
    );
  }
  return { ...created, owner };
}

function given({ topology, graph, engine }: Chosen): Pick<NewInstallation, 'topology' | 'graph' | 'engine'> {
  return {
    ...(topology === undefined ? {} : { topology }),
    ...(graph === undefined ? {} : { graph }),
    ...(engine === undefined ? {} : { engine }),
  };
}
