import { useId } from 'react';
import { type KeyDisclosure, keyDisclosures } from '../../contracts/key-disclosure.ts';

const titles = {
  skills: { title: 'Those of loaded skills', about: 'For most agents. Their first list stays short.' },
  all: { title: 'Those of every skill', about: 'For clients that ask for the list only once.' },
} as const satisfies Record<KeyDisclosure, unknown>;

interface DisclosureChoiceProps {
  readonly disclosure: KeyDisclosure;
  readonly onDisclosure: (disclosure: KeyDisclosure) => void;
}

/** Which tools an agent lists from the start. */
export function DisclosureChoice({ disclosure, onDisclosure }: DisclosureChoiceProps) {
  const id = useId();
  return (
    <fieldset className="grid gap-2">
      <legend className="mb-1 font-medium text-13">Tools in its list</legend>
      {keyDisclosures.map((known) => (
        <label key={known} className="flex min-h-11 items-start gap-3 text-13 tablet:min-h-0">
          <input
            type="radio"
            name={id}
            className="mt-0.5 size-4 accent-solid"
            checked={known === disclosure}
            onChange={() => onDisclosure(known)}
          />
          <span className="grid">
            {titles[known].title}
            <span className="text-12 text-quiet">{titles[known].about}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
