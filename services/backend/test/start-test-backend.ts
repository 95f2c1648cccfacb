import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type JWTPayload, SignJWT } from 'jose';
import { newId, type UserId, type WorkspaceId } from '../../contracts/ids.ts';
import type { MemberRole } from '../../contracts/member-roles.ts';
import { graphqlPath, sessionClaim, tokenAudience, tokenKindClaim } from '../../contracts/token.ts';
import type { Hub } from '../../kit/bus/bus.ts';
import { startHub } from '../../kit/bus/start.ts';
import { createSession } from '../accounts/browser-sessions.ts';
import type { Graph, Transaction } from '../graph/graph.ts';
import { openGraph } from '../graph/open-graph.ts';
import { startBackend } from '../start.ts';

/** A complete backend, started as the platform starts it, on its own port, over a new file. */
export interface TestBackend {
  readonly url: string;
  /** The file of SQLite, for tests that break it. */
  readonly graphFile: string;
  readonly hub: Hub;
  /** Every line logged, one JSON object each. */
  readonly logged: readonly string[];
  operatorToken(claims?: JWTPayload): Promise<string>;
  userToken(user: UserId, claims?: JWTPayload): Promise<string>;
  /** Sends a request over HTTP; without a token there is no Authorization header. */
  ask(question: Question): Promise<Answer>;
  /** Sends a request as an operator, and throws when the answer has errors. */
  must(query: string, variables?: Variables): Promise<Answer['data']>;
  /** Adds a member to a workspace, signed in. */
  addMember(workspace: WorkspaceId, role: MemberRole): Promise<Member>;
  /** Opens a second connection to the same file, for data that only the graph has. */
  withGraph<Result>(work: (graph: Graph) => Promise<Result>): Promise<Result>;
  stop(): Promise<void>;
}

type Variables = Readonly<Record<string, unknown>>;

export interface Question {
  readonly query: string;
  readonly variables?: Variables | undefined;
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests check the shape themselves
  readonly data: any;
  readonly errors: readonly GraphqlProblem[];
  /** Code of the first error, or null. */
  readonly code: string | null;
}

interface GraphqlProblem {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions: { readonly code: string; readonly hint?: string; readonly request: string };
}

export interface Member {
  readonly user: UserId;
  readonly token: string;
}

export async function startTestBackend(env: Readonly<Record<string, string>> = {}): Promise<TestBackend> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-backend-'));
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  await writeFile(join(folder, 'private.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
  await writeFile(join(folder, 'public.pem'), publicKey.export({ type: 'spki', format: 'pem' }));
  const graphFile = join(folder, 'graph.sqlite');
  const graphUrl = `file:${graphFile}`;
  const logged: string[] = [];
  const log = { write: (line: string) => void logged.push(line) };
  const hub = await startHub({ file: null, log });
  const service = await startBackend(
    {
      PORT: '0',
      PRIVATE_GRAPHDB_URL: graphUrl,
      FILES_DIR: join(folder, 'blobs'),
      BUS_SERVERS: 'inproc:',
      ENCRYPTION_KEY: '5e'.repeat(32),
      JWT_PRIVATE_KEY_PATH: join(folder, 'private.pem'),
      JWT_PUBLIC_KEY_PATH: join(folder, 'public.pem'),
      LOG_LEVEL: 'debug',
      ...env,
    },
    { hub, version: '0.0.0', log },
  );
  const url = service.url ?? '';

  const sign = (claims: JWTPayload) =>
    new SignJWT({
      iss: 'service-platform',
      aud: tokenAudience,
      exp: Math.floor(Date.now() / 1000) + 300,
      ...claims,
    })
      .setProtectedHeader({ alg: 'EdDSA' })
      .sign(privateKey);
  const operatorToken = (claims: JWTPayload = {}) => sign({ [tokenKindClaim]: 'operator', sub: 'root', ...claims });
  const userToken = async (user: UserId, claims: JWTPayload = {}) => {
    const session = await withGraph((graph) => graph.write((transaction) => writeSession(transaction, user)));
    return await sign({ [tokenKindClaim]: 'session', sub: user, [sessionClaim]: session.id, ...claims });
  };

  async function ask({ query, variables, token, headers }: Question): Promise<Answer> {
    const response = await fetch(url + graphqlPath, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...headers,
      },
      body: JSON.stringify({ query, variables }),
    });
    const { data = null, errors = [] } = JSON.parse(await response.text());
    return {
      status: response.status,
      headers: response.headers,
      data,
      errors,
      code: errors[0]?.extensions.code ?? null,
    };
  }

  async function withGraph<Result>(work: (graph: Graph) => Promise<Result>): Promise<Result> {
    const graph = await openGraph({ url: graphUrl });
    try {
      return await work(graph);
    } finally {
      await graph.close();
    }
  }

  return {
    url,
    graphFile,
    hub,
    logged,
    operatorToken,
    userToken,
    ask,
    withGraph,
    async must(query, variables) {
      const { data, errors } = await ask({ query, variables, token: await operatorToken() });
      if (errors.length > 0) throw new Error(JSON.stringify(errors));
      return data;
    },
    async addMember(workspace, role) {
      const user = newId('user');
      await withGraph((graph) => writeMember(graph, workspace, { user, role }));
      return { user, token: await userToken(user) };
    },
    async stop() {
      await service.stop();
      await hub.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function writeSession(transaction: Transaction, user: UserId) {
  const config = { JWT_REFRESH_TOKEN_TTL: 600 };
  return createSession(transaction, { config }, { user, provenBy: 'link', device: 'Test' });
}

async function writeMember(graph: Graph, workspace: WorkspaceId, { user, role }: { user: UserId; role: MemberRole }) {
  const createdAt = Date.now();
  await graph.write(async (transaction) => {
    await transaction.create('user', {
      id: user,
      email: `${user}@example.com`,
      name: role,
      signedInAt: null,
      createdAt,
    });
    const member = await transaction.create('member', {
      id: newId('member'),
      workspace,
      user,
      role,
      suspended: false,
      createdAt,
    });
    await transaction.link({ from: 'member', edge: 'person' }, member.id, [user]);
  });
}
