import type { SvcError } from '../../contracts/errors.ts';

/** The result of the work, or the error when the deadline comes first. The work then continues without a watcher. */
export async function withinDeadline<Result>(
  work: Promise<Result>,
  deadlineMs: number,
  late: () => SvcError,
): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(late()), deadlineMs);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
