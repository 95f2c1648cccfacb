import { command } from '../../contracts/bus/messages.ts';
import { subjects } from '../../contracts/bus/subjects.ts';
import type { Subscription } from '../../kit/bus/bus.ts';
import type { Logger } from '../../kit/log.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';
import type { RuntimeConnection } from './connect.ts';

export interface TakeCommandsOptions {
  readonly connection: RuntimeConnection;
  readonly supervisor: Supervisor;
  readonly logger: Logger;
  /** Assignments changed, or the backend lost earlier reports. */
  readonly onAssignments: () => void;
}

/** Carries out the backend's commands to this process. */
export function takeCommands({ connection, supervisor, logger, onAssignments }: TakeCommandsOptions): Subscription {
  const { bus, runtime, process } = connection;
  return bus.subscribe(subjects.command(runtime, process), ({ payload }) => {
    const parsed = command.safeParse(parseJson(payload));
    if (!parsed.success) {
      logger.warn({ payload: Buffer.from(payload).toString().slice(0, 200) }, 'received an unknown command');
      return;
    }
    switch (parsed.data.kind) {
      case 'assignments':
        onAssignments();
        return;
      case 'restart':
        supervisor.restart(parsed.data.mcpServer);
    }
  });
}

function parseJson(payload: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(payload).toString());
  } catch {
    return null;
  }
}
