import { parsePersonName } from '../../contracts/names.ts';
import { Field } from '../components/field.tsx';

interface PersonNameFieldProps {
  readonly value: string;
  readonly onText: (text: string) => void;
}

/** The own name of the person. */
export function PersonNameField(props: PersonNameFieldProps) {
  return (
    <Field
      {...props}
      label="Your name"
      name="name"
      autoComplete="name"
      hint="As others see it."
      rule={parsePersonName}
    />
  );
}
