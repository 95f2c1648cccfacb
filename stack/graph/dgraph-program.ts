import { checkProgram, isVersion, type NeededProgram } from '../check-program.ts';
import type { Definition } from '../settings/definition.ts';
import { hasOwnGraph } from './has-own-graph.ts';

/** Before it nobody had to show himself to the administration of a coordination node. */
export const oldestDgraph = '25.4';
/** From it on, who shows nothing can be refused everything; older ones do not start where that is asked of them. */
const refusesAnonymous = '25.5';

const needed: NeededProgram = {
  name: 'dgraph',
  neededBy: 'graph: dgraph',
  oldest: oldestDgraph,
  askVersion: ['version'],
  howToInstall: `Install Dgraph ${oldestDgraph} or newer from the releases of github.com/dgraph-io/dgraph, which are for Linux only, and put the program dgraph on the path. On macOS, name one that runs elsewhere in graphdb.url of svc.yaml.`,
};

/** Refuses, before anything is started, a graph of our own that could not be had. Returns what the operator should know. */
export async function checkDgraphProgram(definition: Definition, path: string | undefined): Promise<readonly string[]> {
  if (!hasOwnGraph(definition)) return [];
  const { program, version } = await checkProgram({ ...needed, isTaken: (said) => isNewDgraph(said) }, path);
  if (version !== builtFromSource) return [];
  return [`"${program}" was built from source and says no version: it is taken for ${oldestDgraph}.`];
}

/** What a program says that was built without being told its version: whoever built it knows how old it is. */
export const builtFromSource = 'dev';

export function isNewDgraph(version: string | null): boolean {
  return version === builtFromSource || isVersion(version, oldestDgraph);
}

/** The rest of `--security`, beside the token, as far as a program of this version knows it. */
export function postureAt(version: string | null): string {
  return isVersion(version, refusesAnonymous) ? ' anonymous=none' : '';
}
