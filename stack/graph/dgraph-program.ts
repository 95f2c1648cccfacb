import { checkProgram, type NeededProgram } from '../machine/check-program.ts';
import type { Definition } from '../settings/definition.ts';
import { builtFromSource, isNewDgraph, oldestDgraph } from '../settings/dgraph-version.ts';
import { hasOwnGraph } from '../settings/has-own-graph.ts';

const needed: NeededProgram = {
  name: 'dgraph',
  neededBy: 'graph: dgraph',
  oldest: oldestDgraph,
  askVersion: ['version'],
  howToInstall: `Install Dgraph ${oldestDgraph} or newer from the releases of github.com/dgraph-io/dgraph, which are for Linux only, and put the program dgraph on the path. On macOS, name one that runs elsewhere in graphdb.url of svc.yaml.`,
};

/** Checks the program of our own Dgraph before anything is started: refuses a missing or old one. Returns notices for the operator. */
export async function checkDgraphProgram(definition: Definition, path: string | undefined): Promise<readonly string[]> {
  if (!hasOwnGraph(definition)) return [];
  const { program, version } = await checkProgram({ ...needed, isTaken: (said) => isNewDgraph(said) }, path);
  if (version !== builtFromSource) return [];
  return [`"${program}" was built from source and states no version, so it counts as ${oldestDgraph}.`];
}
