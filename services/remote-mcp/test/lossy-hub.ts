import type { Bus, Hub, Message } from '../../kit/bus/bus.ts';

/** The real bus with connections that a test can cut: until they return, they miss published messages. */
export interface LossyHub extends Hub {
  lose(): void;
  restore(): void;
}

export function lossy(hub: Hub): LossyHub {
  const watchers = new Set<(state: 'connected' | 'disconnected') => void>();
  let isLost = false;
  const tell = (state: 'connected' | 'disconnected') => {
    isLost = state === 'disconnected';
    for (const watcher of watchers) watcher(state);
  };
  const wrap = (bus: Bus): Bus => ({
    identity: bus.identity,
    publish: (subject, payload, headers) => {
      if (!isLost) bus.publish(subject, payload, headers);
    },
    subscribe: (pattern, handle, options) => {
      const heard = (message: Message) => (isLost ? undefined : handle(message));
      return bus.subscribe(pattern, heard, options);
    },
    request: (...question) => bus.request(...question),
    respond: (...answer) => bus.respond(...answer),
    stream: (name) => bus.stream(name),
    bucket: (...bucket) => bus.bucket(...bucket),
    onConnection: (watcher) => {
      watchers.add(watcher);
      return bus.onConnection(watcher);
    },
    authorize: (authorizer) => bus.authorize(authorizer),
    disconnect: (...whom) => bus.disconnect(...whom),
    onGone: (listener) => bus.onGone(listener),
    beginClose: () => bus.beginClose(),
    close: () => bus.close(),
  });
  return {
    connect: async (credentials, nonce) => wrap(await hub.connect(credentials, nonce)),
    stop: () => hub.stop(),
    lose: () => tell('disconnected'),
    restore: () => tell('connected'),
  };
}
