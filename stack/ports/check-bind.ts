import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { SvcError } from '../../services/contracts/errors.ts';
import { describeMistakes, isMistakes, readYaml } from '../yaml-text.ts';

/** Refuses a `bind` that this machine can't listen on, with its place in the file: tried, because only the kernel knows its addresses. */
export async function checkBind(definitionFile: string, bind: string): Promise<void> {
  const problem = await listenProblem(bind);
  if (problem === null) return;
  const text = readYaml(readFileSync(definitionFile, 'utf8'));
  const place = isMistakes(text) ? { line: 1, column: 1 } : text.locate(['bind']);
  const message = `bind must be an address of this machine, not "${bind}" (${problem}).`;
  throw new SvcError('invalid_input', describeMistakes(definitionFile, [{ ...place, message }]), {
    hint: '127.0.0.1 is this machine only; 0.0.0.0 is every network that it is in.',
  });
}

/** The system's word for it, or null where listening is possible. */
function listenProblem(host: string): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port: 0 }, () => server.close(() => resolve(null)));
  });
}
