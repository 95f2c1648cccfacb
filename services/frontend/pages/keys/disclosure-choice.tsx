import { type KeyDisclosure, keyDisclosures } from '../../../contracts/key-disclosure.ts';
import { RadioGroup } from '../../components/radio-group.tsx';

const titles = {
  skills: { title: 'Those of loaded skills', about: 'For most agents. Their first list stays short.' },
  all: { title: 'Those of every skill', about: 'For clients that ask for the list only once.' },
} as const satisfies Record<KeyDisclosure, unknown>;

interface DisclosureChoiceProps {
  readonly disclosure: KeyDisclosure;
  readonly onDisclosure: (disclosure: KeyDisclosure) => void;
}

const options = keyDisclosures.map((value) => ({ value, ...titles[value] }));

/** Which tools an agent lists from the start. */
export function DisclosureChoice({ disclosure, onDisclosure }: DisclosureChoiceProps) {
  return <RadioGroup legend="Tools in its list" options={options} value={disclosure} onValue={onDisclosure} />;
}
