import { copyGraph } from '../../../../services/backend/graph/open-content.ts';
import { inWords } from '../../../../services/contracts/system-words.ts';

/** Copies the file of a graph, from inside the volume that it lies in: exit code 0 where that is done; otherwise why not is printed. */
const [file = '', target = ''] = process.argv.slice(2);

try {
  await copyGraph(file, target);
} catch (error) {
  process.stdout.write(inWords(error));
  process.exitCode = 1;
}
