import { StatusDot } from '../../components/status-dot.tsx';
import type { OwnKey } from './own-keys.ts';

const states = {
  valid: { tone: 'good', word: 'valid' },
  expired: { tone: 'bad', word: 'Expired' },
  revoked: { tone: 'none', word: 'revoked' },
} as const;

export function KeyState({ state }: Pick<OwnKey, 'state'>) {
  return <StatusDot tone={states[state].tone}>{states[state].word}</StatusDot>;
}
