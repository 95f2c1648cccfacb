import { inWords } from '../../../../services/contracts/system-words.ts';
import { provisionGraph, writeUsers } from '../../../graph/provision-graph.ts';

/**
 * Provisions the graph from inside its network, where nobody else reaches it: exit code 0 where that is done; otherwise why not is printed.
 * Arguments: the addresses of data nodes, the files of the secrets that it takes, and `anew` to write everything though nothing is missing.
 */
const [urls = '', graphAclKey = '', graphPassword = '', graphAdminPassword = '', how = ''] = process.argv.slice(2);
const secrets = { graphAclKey, graphPassword, graphAdminPassword };

try {
  const provision = how === 'anew' ? writeUsers : provisionGraph;
  await provision({ urls: urls.split(','), secrets, signal: new AbortController().signal });
} catch (error) {
  process.stdout.write(inWords(error));
  process.exitCode = 1;
}
