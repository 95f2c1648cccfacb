import type { DgraphAddress } from '../../services/backend/graph/open-content.ts';
import { Secret } from '../../services/contracts/secret.ts';
import type { Plan } from '../lifecycle/plan.ts';
import { readSecret } from '../secrets.ts';

/** Where the Dgraph of a platform is and who comes to it: what its backend is told. */
export function dgraphAddressOf({ environment: { backend } }: Pick<Plan, 'environment'>): DgraphAddress {
  const secretIn = (file: string | undefined) => (file === undefined ? undefined : new Secret(readSecret(file)));
  return {
    url: backend.PRIVATE_GRAPHDB_URL ?? '',
    servers: backend.PRIVATE_GRAPHDB_GRPC_URL?.split(','),
    caPath: backend.PRIVATE_GRAPHDB_CA_PATH,
    user: backend.PRIVATE_GRAPHDB_USER,
    password: secretIn(backend.PRIVATE_GRAPHDB_PASSWORD_FILE),
    token: secretIn(backend.PRIVATE_GRAPHDB_TOKEN_FILE),
  };
}
