import type { Launch } from '../../contracts/bus/messages.ts';
import { SvcError } from '../../contracts/errors.ts';
import { checkLaunch, type LaunchInput } from '../../contracts/launch.ts';

/** A launch may have thousands of settings, each with a problem. */
const problemsShownMax = 20;

export function parseLaunch(input: LaunchInput): Launch {
  const checked = checkLaunch(input);
  if (checked.ok) return checked.launch;
  const shown = checked.problems.slice(0, problemsShownMax).map(({ message }) => message);
  const left = checked.problems.length - shown.length;
  const why = [...shown, ...(left === 0 ? [] : [`and ${left} more problems`])].join('; ');
  throw new SvcError('invalid_input', `The launch is not valid: ${why}.`);
}
