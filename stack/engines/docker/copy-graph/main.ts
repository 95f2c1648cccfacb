import { copyGraph } from '../../../../services/backend/graph/open-content.ts';

/** Copies the file of a graph, from inside the volume that it lies in: exit code 0 where that is done; otherwise why not is printed. */
const [file = '', target = ''] = process.argv.slice(2);

try {
  await copyGraph(file, target);
} catch (error) {
  process.stdout.write(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
