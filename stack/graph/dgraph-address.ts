import type { DgraphAddress } from '../../services/backend/graph/open-content.ts';
import { Secret } from '../../services/contracts/secret.ts';
import { fileAt } from '../parts/part.ts';
import { firstOf } from '../parts/parts.ts';
import type { Plan } from '../plan/plan.ts';
import { readSecret } from '../secrets/secrets.ts';

/** The address of a platform's Dgraph, with the credentials of its backend. */
export function dgraphAddressOf({ parts }: Pick<Plan, 'parts'>): DgraphAddress {
  const backend = firstOf('backend', parts);
  const { variables } = backend;
  const secretAt = (path: string | undefined) =>
    path === undefined ? undefined : new Secret(readSecret(fileAt(path, backend)));
  return {
    url: variables.PRIVATE_GRAPHDB_URL ?? '',
    servers: variables.PRIVATE_GRAPHDB_GRPC_URL?.split(','),
    caPath: variables.PRIVATE_GRAPHDB_CA_PATH,
    user: variables.PRIVATE_GRAPHDB_USER,
    password: secretAt(variables.PRIVATE_GRAPHDB_PASSWORD_FILE),
    token: secretAt(variables.PRIVATE_GRAPHDB_TOKEN_FILE),
  };
}
