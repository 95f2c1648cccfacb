import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { giveWay } from '../give-way.ts';

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Node handles up to a hundred pipelined requests of one connection before it reads other connections. Here all but the
 * first let other work run first, and are dropped if their connection has ended by then.
 */
export function inTurn(handle: Handle): Handle {
  /** Bytes read from a connection when its last request came. */
  const readAt = new WeakMap<Socket, number>();
  return (request, response) => {
    const { socket } = request;
    const { bytesRead } = socket;
    const cameTogether = readAt.get(socket) === bytesRead;
    if (!cameTogether) readAt.set(socket, bytesRead);
    const handleOpen = () => {
      if (!socket.destroyed) handle(request, response);
    };
    // Node gives an answer its socket when those before it are sent.
    if (cameTogether || response.socket === null) void giveWay().then(handleOpen);
    else handleOpen();
  };
}
