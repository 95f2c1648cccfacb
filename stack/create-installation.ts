import { SvcError } from '../services/contracts/errors.ts';
import type { ListenerName } from './definition/definition.ts';
import type { Installation } from './installation.ts';

/** What may be chosen when an installation is made; everything else is in its svc.yaml. */
export interface NewInstallation {
  readonly dir: string;
  /** Default: the name of the folder's parent, as far as it is a good name. */
  readonly name?: string;
  readonly ownerEmail?: string;
  readonly ports?: Readonly<Partial<Record<ListenerName, number>>>;
}

/** What became of each file and folder: nothing that exists is changed, but for file modes that are too open. */
export interface CreatedInstallation {
  readonly installation: Installation;
  readonly steps: readonly CreationStep[];
}

export interface CreationStep {
  /** Relative to the installation. */
  readonly path: string;
  readonly outcome: 'created' | 'kept' | 'repaired';
  readonly detail?: string;
}

export async function createInstallation(_wanted: NewInstallation): Promise<CreatedInstallation> {
  throw new SvcError('unsupported', 'Installations cannot be created yet.');
}
