import { inWords } from '../../../../services/contracts/system-words.ts';
import { provisionGraph } from '../../../graph/provision-graph.ts';

/** Provisions the graph from inside its closed network. Exit code 0: done. Otherwise prints the reason. */
const [urls = '', timeoutMs = '', graphAclKey = '', graphPassword = '', graphAdminPassword = ''] =
  process.argv.slice(2);
const secrets = { graphAclKey, graphPassword, graphAdminPassword };

try {
  await provisionGraph({
    urls: urls.split(','),
    secrets,
    timeoutMs: Number(timeoutMs),
    signal: new AbortController().signal,
  });
} catch (error) {
  process.stdout.write(inWords(error));
  process.exitCode = 1;
}
