import { connect, createServer } from 'node:net';

/**
 * Passes connections on into a network that leads nowhere. Arguments: such as 8080=dgraph-alpha:8080, the port that it listens on and where
 * that leads.
 */
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
  // With no such port it ends at once.
  server.on('error', () => process.exit(1));
  server.listen(Number(listen), '0.0.0.0');
}
