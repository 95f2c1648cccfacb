import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** An unreachable program sends nothing within this time. */
const patienceMs = 1500;
/** The preface of HTTP/2 (RFC 9113 §3.4). gRPC answers it, an HTTP/1 server rejects it, and NATS speaks first. */
const greeting = JSON.stringify('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

/** Asks whether a program answers, for `node -e`: exit code 0. An open connection proves nothing, because a proxy may accept it. */
export function askingWhetherAnswersAt(host: string, port: number): string {
  return `const s=require("net").connect(${port},"${host}",()=>s.write(${greeting}));s.on("data",()=>process.exit(0));for(const e of ["error","end","timeout"])s.on(e,()=>process.exit(1));s.setTimeout(${patienceMs})`;
}

/** Whether a program answers this machine. */
export function answersAt(host: string, port: number): Promise<boolean> {
  return promisify(execFile)(process.execPath, ['-e', askingWhetherAnswersAt(host, port)]).then(
    () => true,
    () => false,
  );
}

/** A similar address or name that no container has. A network that answers for every address answers for it too. */
export function nobodyBeside(place: string): string {
  return place.includes('.') ? place.replace(/\d+$/, '250') : `${place}-of-nobody`;
}
