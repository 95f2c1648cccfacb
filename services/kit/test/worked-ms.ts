/**
 * Processor time that this thread has taken, in milliseconds. On a busy machine, elapsed time does not show what work
 * costs.
 */
export function workedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
