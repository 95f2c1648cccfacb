import { inWords } from '../../../../services/contracts/system-words.ts';
import { provisionGraph } from '../../../graph/provision-graph.ts';

/**
 * Provisions the graph from inside its network, where nobody else reaches it: exit code 0 where that is done; otherwise why not is printed.
 * Arguments: the addresses of data nodes, the files of the secrets that it takes, and `force` to write the users even where none is missing.
 */
const [urls = '', graphAclKey = '', graphPassword = '', graphAdminPassword = '', how = ''] = process.argv.slice(2);
const secrets = { graphAclKey, graphPassword, graphAdminPassword };

try {
  await provisionGraph({
    urls: urls.split(','),
    secrets,
    force: how === 'force',
    signal: new AbortController().signal,
  });
} catch (error) {
  process.stdout.write(inWords(error));
  process.exitCode = 1;
}
