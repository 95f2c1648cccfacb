import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { SvcError } from '../../services/contracts/errors.ts';
import { inWords } from '../../services/contracts/system-words.ts';
import { request } from '../client/http.ts';
import { parseJson } from '../machine/parse-json.ts';
import type { Plan } from '../plan/plan.ts';
import { readSecret } from '../secrets/secrets.ts';
import { isNewDgraph, oldestDgraph } from '../settings/dgraph.ts';
import { askDgraph, type Credentials, type Dgraph, mayRead } from './ask-dgraph.ts';

/** A server in the same data centre answers in a millisecond. */
const answerTimeoutMs = 5000;

/** Checks an external Dgraph before anything is started: refuses one that does not meet our needs. Returns notices for the operator. */
export async function checkGraph(plan: Plan): Promise<readonly string[]> {
  const { graph, graphdb } = plan.definition;
  const { url } = graphdb;
  if (graph !== 'dgraph' || url === 'auto') return [];
  const dgraph: Dgraph = { url, ca: authorityOf(plan) };
  const version = await versionOf(dgraph);
  if (!isNewDgraph(version)) {
    throw new SvcError('unsupported', `${url} runs Dgraph ${version}, and ${oldestDgraph} or newer is needed.`);
  }
  const token = graphdb.token ? readSecret(plan.secrets.graphToken) : undefined;
  const access = await logIn(dgraph, plan, token);
  await checkQuery(dgraph, plan, { ...access, ...(token === undefined ? {} : { token }) });
  if (!(await isOpen(dgraph))) return [];
  return [
    `${url} allows every client to change its schema. Start it with --acl, and with --security and a token, or restrict its network to this platform.`,
  ];
}

function authorityOf({ installation, definition: { graphdb } }: Plan): string | undefined {
  if (graphdb.ca === undefined) return undefined;
  const file = resolve(installation.dir, graphdb.ca);
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new SvcError('invalid_input', `graphdb.ca cannot be used: "${file}" cannot be read.`, { cause: error });
  }
}

const health = z.array(z.object({ version: z.string(), status: z.string() })).min(1);

async function versionOf({ url, ca }: Dgraph): Promise<string> {
  const place = {
    hint: 'Check that Dgraph runs, and that graphdb.url in svc.yaml is the HTTP endpoint of a data node (alpha).',
  };
  const asked = { method: 'GET', url: new URL('/health', url).href, ca, timeoutMs: answerTimeoutMs } as const;
  const answer = await request(asked).catch((error: unknown) => {
    const why = inWords(error);
    throw new SvcError('unavailable', `${url} does not answer as a Dgraph: ${why}`, { ...place, cause: error });
  });
  const read = health.safeParse(parseJson(answer.body));
  const [first] = read.data ?? [];
  if (first === undefined) {
    const why =
      answer.status === 503 ? `it is not healthy: ${answer.body.trim().slice(0, 200)}` : 'it says something else';
    throw new SvcError('unavailable', `${url} does not answer as a Dgraph: ${why}.`, place);
  }
  return first.version.replace(/^v/, '');
}

const login = z.object({ accessJWT: z.string() });

async function logIn(dgraph: Dgraph, { definition, secrets }: Plan, token: string | undefined): Promise<Credentials> {
  const { url, user } = definition.graphdb;
  if (user === undefined) return {};
  const shown = token === undefined ? {} : { token };
  const said = { userid: user, password: readSecret(secrets.graphPassword) };
  try {
    return { access: login.parse(await askDgraph(dgraph, '/login', said, shown)).accessJWT };
  } catch (error) {
    const why = error instanceof SvcError ? error.message : 'It gave no reason.';
    throw new SvcError('forbidden', `${url} does not let the user "${user}" in. ${why}`, {
      hint: 'Put the password of the user into secrets/graphdb-password.key. If Dgraph has an administration token, put it into secrets/graphdb-token.key and set graphdb.token: true.',
      cause: error,
    });
  }
}

async function checkQuery(dgraph: Dgraph, { definition }: Plan, shown: Credentials): Promise<void> {
  const { url, user } = definition.graphdb;
  const hint =
    user === undefined
      ? "Set graphdb.user in svc.yaml to the platform's user in that Dgraph."
      : `Grant "${user}" the rights to read, write and modify dgraph.all there, once more if it has them: a data node can lose them at a start.`;
  const isShown = await mayRead(dgraph, shown).catch((error: unknown) => {
    const why = error instanceof SvcError ? error.message : '';
    throw new SvcError('forbidden', `${url} does not answer us. ${why}`.trim(), { hint, cause: error });
  });
  if (!isShown) throw new SvcError('forbidden', `${url} shows us nothing.`, { hint });
}

/** Whether the schema can be changed without credentials: tried with an empty change. */
async function isOpen(dgraph: Dgraph): Promise<boolean> {
  return askDgraph(dgraph, '/alter', { schema: '' }).then(
    () => true,
    () => false,
  );
}
