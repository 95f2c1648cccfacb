import { Field } from '../../components/field.tsx';
import { SelectField } from '../../components/select-field.tsx';
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
  const isMissing = expiry?.kind === 'day' && expiry.day !== '' && momentOf(expiry, Date.now()) === undefined;
  return (
    <div className="grid gap-2">
      <SelectField
        label="Expires"
        value={expiry?.kind ?? ''}
        options={[
          ...(present === undefined ? [] : [{ value: '' as const, title: present }]),
          ...expiryKinds.map((kind) => ({ value: kind, title: titles[kind] })),
        ]}
        onValue={(kind) => onExpiry(kind === '' ? null : { kind, day: expiry?.day ?? '' })}
      />
      {expiry?.kind === 'day' && (
        <Field
          label="Last day"
          type="date"
          required
          value={expiry.day}
          onText={(day) => onExpiry({ kind: 'day', day })}
          problem={isMissing ? 'The last day has passed.' : null}
        />
      )}
    </div>
  );
}
