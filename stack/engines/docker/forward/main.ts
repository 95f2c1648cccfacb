import { connect, createServer } from 'node:net';

/** Forwards connections into a closed network: 8080=dgraph-alpha:8080 names a port and its target. */
for (const way of process.argv.slice(2)) {
  const [listen = '', host = '', port = ''] = way.split(/[=:]/);
  const server = createServer({ noDelay: true }, (incoming) => {
    const outgoing = connect({ port: Number(port), host, noDelay: true });
    for (const [one, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      one.on('error', () => other.destroy());
      one.pipe(other);
    }
  });
  // A port that is not a number ends it at once.
  server.on('error', () => process.exit(1));
  server.listen(Number(listen), '0.0.0.0');
}
