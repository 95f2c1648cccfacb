import { copyGraph } from '../../../../services/backend/graph/open-content.ts';
import { inWords } from '../../../../services/contracts/system-words.ts';

/** Copies the graph's file inside its volume. Exit code 0: done. Otherwise prints the reason. */
const [file = '', target = ''] = process.argv.slice(2);

try {
  await copyGraph(file, target);
} catch (error) {
  process.stdout.write(inWords(error));
  process.exitCode = 1;
}
