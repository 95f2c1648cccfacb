import { useId } from 'react';
import { Field, TextField } from '../../components/field.tsx';
import type { InputField } from './tool-input.ts';

/** The control for one argument of a tool. */
export function ToolInputField({
  field,
  text,
  onText,
  problem,
}: {
  readonly field: InputField;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly problem: string | null;
}) {
  const { name, title, description, required, kind, defaultText } = field;
  const label = title === '' || title === name ? name : `${title} (${name})`;
  const parts = [
    description,
    required ? '' : 'Optional.',
    kind.kind === 'json' ? 'Written as JSON.' : '',
    defaultText === '' || defaultText === 'null' ? '' : `Default: ${defaultText}.`,
  ];
  const hint =
    parts
      .filter((part) => part !== '')
      .join(' ')
      .slice(0, hintMax) || undefined;
  if (kind.kind === 'choice') {
    return <Choice {...{ label, hint, problem, text, onText, values: kind.values, required }} />;
  }
  if (kind.kind === 'json') {
    return <TextField label={label} hint={hint} problem={problem} rows={3} value={text} onText={onText} />;
  }
  const isNumber = kind.kind === 'number';
  return (
    <Field
      label={label}
      hint={hint}
      problem={problem}
      value={text}
      onText={onText}
      inputMode={isNumber ? 'decimal' : 'text'}
      aria-required={required}
      isCode={isNumber}
    />
  );
}

/** Descriptions are written for agents and may be long. */
const hintMax = 600;

function Choice({
  label,
  hint,
  problem,
  text,
  onText,
  values,
  required,
}: {
  readonly label: string;
  readonly hint: string | undefined;
  readonly problem: string | null;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly values: readonly unknown[];
  readonly required: boolean;
}) {
  const id = useId();
  const describedBy = [hint && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(' ') || undefined;
  return (
    <div className="grid gap-1">
      <label htmlFor={id} className="font-medium text-13">
        {label}
      </label>
      <select
        id={id}
        value={text}
        onChange={({ target }) => onText(target.value)}
        aria-required={required}
        aria-invalid={problem !== null}
        aria-describedby={describedBy}
        className="h-11 w-full rounded-control border border-border-strong bg-surface px-3 text-16 tablet:h-9 tablet:text-14"
      >
        <option value="">{required ? 'Choose…' : 'Left out'}</option>
        {values.map((value, at) => (
          <option key={JSON.stringify(value)} value={at}>
            {typeof value === 'string' ? value : JSON.stringify(value)}
          </option>
        ))}
      </select>
      {hint !== undefined && (
        <p id={`${id}-hint`} className="break-words text-12 text-quiet">
          {hint}
        </p>
      )}
      {problem !== null && (
        <p id={`${id}-problem`} className="text-12 text-bad">
          {problem}
        </p>
      )}
    </div>
  );
}
