import { Field, TextField } from '../../components/field.tsx';
import { SelectField } from '../../components/select-field.tsx';
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
    const options = [
      { value: '', title: required ? 'Choose…' : 'Left out' },
      ...kind.values.map((value, at) => ({
        value: String(at),
        title: typeof value === 'string' ? value : JSON.stringify(value),
      })),
    ];
    return <SelectField {...{ label, hint, problem, required, options, value: text, onValue: onText }} />;
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
