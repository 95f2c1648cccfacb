import { SvcError } from '../../contracts/errors.ts';

const subjectMaxLength = 512;
/** Visible ASCII without the characters that have a meaning in subjects. */
const nameShape = /^[!-)+-\-/-=?-~]+$/;

export function checkSubject(subject: string): void {
  const tokens = subject.split('.', subjectMaxLength);
  if (subject.length > subjectMaxLength || !tokens.every((token) => nameShape.test(token))) {
    throw malformed(subject, 'a subject');
  }
}

export function checkPattern(pattern: string): void {
  const tokens = pattern.split('.', subjectMaxLength);
  const last = tokens.length - 1;
  const allowed = (token: string, i: number) => token === '*' || (token === '>' && i === last) || nameShape.test(token);
  if (pattern.length > subjectMaxLength || !tokens.every(allowed)) throw malformed(pattern, 'a subject pattern');
}

function malformed(text: string, what: string): SvcError {
  return new SvcError(
    'invalid_input',
    `"${text.slice(0, 100)}" is not ${what}: it must be tokens of visible characters with single dots between them.`,
  );
}
