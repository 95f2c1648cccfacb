import type { Launch } from '../../contracts/bus/messages.ts';
import { SvcError } from '../../contracts/errors.ts';
import { checkLaunch, type LaunchInput } from '../../contracts/launch.ts';

export function parseLaunch(input: LaunchInput): Launch {
  const checked = checkLaunch(input);
  if (checked.ok) return checked.launch;
  const why = checked.problems.map(({ message }) => message).join('; ');
  throw new SvcError('invalid_input', `The launch is not valid: ${why}.`);
}
