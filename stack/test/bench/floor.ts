import { newId, newProcessId } from '../../../services/contracts/ids.ts';
import { Secret } from '../../../services/contracts/secret.ts';
import { startHub } from '../../../services/kit/bus/start.ts';
import { answerByChild, askOverHttp } from './floor-ends.ts';

/** The floor: an HTTP request's body goes over the bus to a child's stdin, and its line of stdout comes back. No keys, no roles, no names. */
const [port, program] = process.argv.slice(2);
const hub = await startHub({ file: null });
const backend = await hub.connect({ kind: 'backend' }, newProcessId());
const runtimeId = newId('runtime');
backend.authorize(async (credentials, process) =>
  credentials.kind === 'system'
    ? { kind: 'remote-mcp', process }
    : { kind: 'runtime', process, runtime: runtimeId, name: 'floor', workspace: null },
);
const front = await hub.connect({ kind: 'system', component: 'remote-mcp', key: new Secret('') }, newProcessId());
const runtime = await hub.connect({ kind: 'runtime', key: new Secret('') }, newProcessId());
const subject = `svc.runtime.${runtimeId}.${runtime.identity.process}.call`;
answerByChild(runtime, subject, program ?? '');
askOverHttp(front, subject, Number(port));
