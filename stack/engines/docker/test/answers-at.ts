import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** A program that sends nothing within this time counts as unreachable. */
const patienceMs = 1500;
/** The preface of HTTP/2 (RFC 9113 §3.4). gRPC answers it, an HTTP/1 server rejects it, and NATS speaks first. */
const greeting = JSON.stringify('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

/** A script for `node -e` that exits with 0 if a program answers. An open connection proves nothing, because a proxy may accept it. */
export function askingWhetherAnswersAt(host: string, port: number): string {
  return `const s=require("net").connect(${port},"${host}",()=>s.write(${greeting}));s.on("data",()=>process.exit(0));for(const e of ["error","end","timeout"])s.on(e,()=>process.exit(1));s.setTimeout(${patienceMs})`;
}

/** Whether a program at this address answers this machine. */
export function answersAt(host: string, port: number): Promise<boolean> {
  return promisify(execFile)(process.execPath, ['-e', askingWhetherAnswersAt(host, port)]).then(
    () => true,
    () => false,
  );
}

/** A similar address or name that no container has. It answers only in a network that answers for every address. */
export function nobodyBeside(place: string): string {
  return place.includes('.') ? place.replace(/\d+$/, '250') : `${place}-of-nobody`;
}
