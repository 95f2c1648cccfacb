import { connect } from 'node:net';

/** An unreachable program sends nothing within this time. */
const patienceMs = 1500;
/** The preface of HTTP/2 (RFC 9113 §3.4). gRPC answers it, an HTTP/1 server rejects it, and NATS speaks first. */
const greeting = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';

/** Whether a program answers. An open connection proves nothing, because a proxy may accept it. */
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

/** The same question for `node -e`. Exit code 0: a program answers. */
export function askingWhetherAnswersAt(host: string, port: number): string {
  const said = JSON.stringify(greeting);
  return `const s=require("net").connect(${port},"${host}",()=>s.write(${said}));s.on("data",()=>process.exit(0));for(const e of ["error","end","timeout"])s.on(e,()=>process.exit(1));s.setTimeout(${patienceMs})`;
}

/** A similar address or name that no container has. A network that answers for every address answers for it too. */
export function nobodyBeside(place: string): string {
  return place.includes('.') ? place.replace(/\d+$/, '250') : `${place}-of-nobody`;
}
