'use strict';
// Loaded first (--require) in the head process of a process group. If the parent dies without a message, the ipc
// channel closes. Then the whole group gets SIGTERM, and SIGKILL if its head is still alive.

const graceMs = 10_000;

if (process.channel) {
  process.once('disconnect', () => {
    process.kill(-process.pid, 'SIGTERM');
    setTimeout(() => process.kill(-process.pid, 'SIGKILL'), graceMs).unref();
  });
  process.channel.unref();
}
