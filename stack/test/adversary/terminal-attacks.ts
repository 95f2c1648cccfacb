/** Texts that a terminal would execute, or a person would misread. */
const attacks: Readonly<Record<string, string>> = {
  'OSC 52, which fills the clipboard': '\u001b]52;c;Y3VybCBldmls\u0007',
  'OSC 8, a link that looks like another': '\u001b]8;;https://evil.example\u001b\\docs\u001b]8;;\u001b\\',
  'CSI, which clears the screen': '\u001b[2J\u001b[H',
  'a colour, which hides text': '\u001b[8mhidden\u001b[0m',
  'our own colour, which forges a state': '\u001b[32mConnected\u001b[0m',
  'C1, CSI in one character': '\u009b2J',
  'C1, OSC in one character': '\u009d0;title\u009c',
  'bidirectional override': '\u202egnp.exe\u202c',
  'bidirectional isolate': '\u2066x\u2069',
  'a carriage return, which overwrites the line': '\rall is well',
  'a backspace and a delete': 'x\b\u007f',
  'a newline, which forges a row': '\nforged  Connected  healthy',
  'a line separator': '\u2028forged',
  'a zero-width space and a soft hyphen': 'a\u200bb\u00adc',
  'letters that are tags': '\u{e0041}\u{e007f}',
};
export const texts = Object.values(attacks);

/** Colours that svc itself writes. */
const ownColours = new RegExp(`${String.fromCharCode(27)}\\[(?:31|32|33|34|35|36|90|1|0)m`, 'g');
const unsafe =
  /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u00ad\ufeff\u{e0000}-\u{e007f}]/u;

/** The first printed line that a terminal would not show as it is; null for none. */
export function findUnsafe(printed: string): string | null {
  const line = printed.split(/[\n\t]/).find((one) => unsafe.test(one.replace(ownColours, '')));
  return line === undefined ? null : JSON.stringify(line);
}
