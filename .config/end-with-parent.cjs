'use strict';
// Loaded first (--require) in a process that is the head of its own group: when whoever started it dies without a
// word, the ipc channel closes, and the process is asked to end; its whole group is killed if it does not.

const graceMs = 10_000;

if (process.channel) {
  process.once('disconnect', () => {
    process.kill(process.pid, 'SIGTERM');
    setTimeout(() => process.kill(-process.pid, 'SIGKILL'), graceMs).unref();
  });
  process.channel.unref();
}
