import { existsSync } from 'node:fs';
import {
  type ClientFile,
  type ConfiguredClient,
  clients,
  type Place,
} from '../../services/contracts/clients/clients.ts';

/** A configuration file of a client, whether it exists or not. */
export interface PlacedFile extends Pick<ClientFile, 'scope' | 'takesChanges'> {
  readonly client: ConfiguredClient;
  readonly path: string;
}

/** Every configuration file that clients would read at this place. */
export function clientFiles(place: Place): readonly PlacedFile[] {
  return clients.flatMap((client) =>
    client.kind === 'text'
      ? []
      : client.files.map(({ scope, takesChanges, path }) => ({ client, scope, takesChanges, path: path(place) })),
  );
}

/** Those that exist. */
export function findClientFiles(place: Place): readonly PlacedFile[] {
  return clientFiles(place).filter(({ path }) => existsSync(path));
}
