import { createServer } from 'node:net';

/** Answers every request with the same bytes as soon as it has come: nothing that speaks HTTP can be faster. */
const [port, said] = process.argv.slice(2);
const body = JSON.stringify({ jsonrpc: '2.0', id: 2, result: { content: [{ type: 'text', text: said }] } });
const answer = Buffer.from(
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nmcp-session-id: mirror\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
);

createServer((socket) => {
  socket.setNoDelay(true);
  socket.on('data', () => socket.write(answer));
  socket.on('error', () => socket.destroy());
}).listen(Number(port), '127.0.0.1');
