/**
 * Processor time that this thread has used, in milliseconds. On a busy machine, elapsed time does not show the cost of
 * work.
 */
export function workedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
