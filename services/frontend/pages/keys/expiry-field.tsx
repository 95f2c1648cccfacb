import { useId } from 'react';
import { Field } from '../../components/field.tsx';
import { type Expiry, expiryKinds, momentOf } from './key-expiry.ts';

interface ExpiryFieldProps {
  /** Null: the present expiry stays. */
  readonly expiry: Expiry | null;
  /** The words for the present expiry of a key that exists. */
  readonly present?: string;
  readonly onExpiry: (expiry: Expiry | null) => void;
}

const titles = {
  never: 'No expiry',
  ...{ 30: '30 days from now', 90: '90 days from now', 365: 'One year from now' },
  day: 'On a day…',
} as const satisfies Record<Expiry['kind'], string>;

/** When a key expires. */
export function ExpiryField({ expiry, present, onExpiry }: ExpiryFieldProps) {
  const id = useId();
  const choose = (value: string) => {
    const kind = expiryKinds.find((known) => known === value);
    onExpiry(kind === undefined ? null : { kind, day: expiry?.day ?? '' });
  };
  const isMissing = expiry?.kind === 'day' && expiry.day !== '' && momentOf(expiry, Date.now()) === undefined;
  return (
    <div className="grid gap-2">
      <div className="grid gap-1">
        <label htmlFor={id} className="font-medium text-13">
          Expires
        </label>
        <select
          id={id}
          value={expiry?.kind ?? ''}
          onChange={({ target }) => choose(target.value)}
          className="h-11 w-full min-w-0 rounded-control border border-border-strong bg-surface px-3 text-16 tablet:h-9 tablet:text-14"
        >
          {present !== undefined && <option value="">{present}</option>}
          {expiryKinds.map((kind) => (
            <option key={kind} value={kind}>
              {titles[kind]}
            </option>
          ))}
        </select>
      </div>
      {expiry?.kind === 'day' && (
        <Field
          label="Last day"
          type="date"
          value={expiry.day}
          onText={(day) => onExpiry({ kind: 'day', day })}
          problem={isMissing ? 'The last day has passed.' : null}
        />
      )}
    </div>
  );
}
