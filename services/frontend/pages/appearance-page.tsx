import { chooseTheme, themes, useTheme } from '../app/theme.ts';
import { PageHead } from './page-head.tsx';

const meanings = { system: 'As the system has it', light: 'Light', dark: 'Dark' } as const;

export function AppearancePage() {
  const chosen = useTheme();
  return (
    <>
      <PageHead title="Appearance" about="For this browser." />
      <fieldset className="grid gap-1">
        <legend className="mb-2 font-medium text-13">Theme</legend>
        {themes.map((theme) => (
          <label key={theme} className="flex h-11 items-center gap-3 tablet:h-9">
            <input
              type="radio"
              name="theme"
              checked={theme === chosen}
              onChange={() => chooseTheme(theme)}
              className="size-4 accent-solid"
            />
            {meanings[theme]}
          </label>
        ))}
      </fieldset>
    </>
  );
}
