'use strict';
// Loaded first (--require) in a process that is the head of its own group: when whoever started it dies without a
// word, the ipc channel closes, and the whole group is asked to end, then killed if its head is still there.

const graceMs = 10_000;

if (process.channel) {
  process.once('disconnect', () => {
    process.kill(-process.pid, 'SIGTERM');
    setTimeout(() => process.kill(-process.pid, 'SIGKILL'), graceMs).unref();
  });
  process.channel.unref();
}
