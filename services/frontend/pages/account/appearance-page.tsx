import { chooseTheme, themes, useTheme } from '../../app/theme.ts';
import { RadioGroup } from '../../components/radio-group.tsx';
import { PageHead } from '../page-head.tsx';

const titles = { system: 'As the system has it', light: 'Light', dark: 'Dark' } as const;
const options = themes.map((theme) => ({ value: theme, title: titles[theme] }));

export function AppearancePage() {
  return (
    <>
      <PageHead title="Appearance" about="For this browser." />
      <RadioGroup legend="Theme" options={options} value={useTheme()} onValue={chooseTheme} />
    </>
  );
}
