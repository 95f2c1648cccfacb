import { connect } from 'node:net';

/** What is not reached says nothing at all. */
const patienceMs = 1500;
/** How HTTP/2 begins (RFC 9113 §3.4): gRPC answers to it, other HTTP complains of it, and NATS speaks first. */
const greeting = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';

/** Whether somebody there says anything. A connection alone proves nothing: what stands between may take it. */
export function answersAt(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: patienceMs }, () => socket.write(greeting));
    const tell = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('data', () => tell(true));
    socket.once('timeout', () => tell(false));
    socket.once('error', () => tell(false));
    socket.once('end', () => tell(false));
  });
}

/** The same question as a program for `node -e`, whose exit code is 0 where it is answered. */
export function askingWhetherAnswersAt(host: string, port: number): string {
  const said = JSON.stringify(greeting);
  return `const s=require("net").connect(${port},"${host}",()=>s.write(${said}));s.on("data",()=>process.exit(0));for(const e of ["error","end","timeout"])s.on(e,()=>process.exit(1));s.setTimeout(${patienceMs})`;
}

/** An address or a name of the same kind that no container has. Networks beyond may answer for everybody: so they do for nobody. */
export function nobodyBeside(place: string): string {
  return place.includes('.') ? place.replace(/\d+$/, '250') : `${place}-of-nobody`;
}
