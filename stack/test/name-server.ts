import { createServer, type Socket } from 'node:net';

/** Says over TCP (RFC 7766) that every name leads to this machine (RFC 1035 §4.1, type A), and knows nothing else. */
export async function startNameServer(port: number): Promise<AsyncDisposable> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let unread = Buffer.alloc(0);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (chunk: Buffer) => {
      unread = Buffer.concat([unread, chunk]);
      while (unread.length >= 2 && unread.length >= 2 + unread.readUInt16BE(0)) {
        const query = unread.subarray(2, 2 + unread.readUInt16BE(0));
        unread = unread.subarray(2 + query.length);
        const answer = answerTo(query);
        const length = Buffer.alloc(2);
        length.writeUInt16BE(answer.length);
        socket.write(Buffer.concat([length, answer]));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const headerBytes = 12;
const typeA = 1;
/** The name of the question again, type A, class IN, one second, four bytes: 127.0.0.1. */
const toThisMachine = Buffer.from([0xc0, headerBytes, 0, typeA, 0, 1, 0, 0, 0, 1, 0, 4, 127, 0, 0, 1]);

function answerTo(query: Buffer): Buffer {
  let end = headerBytes;
  while (query.readUInt8(end) !== 0) end += query.readUInt8(end) + 1;
  const isAsked = query.readUInt16BE(end + 1) === typeA;
  const header = Buffer.alloc(headerBytes);
  query.copy(header, 0, 0, 2);
  // An answer, from whoever knows, without an error; one question, and one record or none.
  header.writeUInt16BE(0x8400, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(isAsked ? 1 : 0, 6);
  return Buffer.concat([header, query.subarray(headerBytes, end + 5), ...(isAsked ? [toThisMachine] : [])]);
}
