import type { ServerResponse } from 'node:http';

/**
 * Resolves when the answer was sent or the client disconnected. A response queued behind another one emits no close, so
 * the socket is watched too.
 */
export function responseClosed(response: ServerResponse): Promise<void> {
  const { socket } = response.req;
  return new Promise((resolve) => {
    const end = () => {
      response.off('close', end);
      socket.off('close', end);
      resolve();
    };
    if (response.closed || socket.destroyed) return resolve();
    response.once('close', end);
    socket.once('close', end);
  });
}
