/**
 * Advice of the backend or the runtime, without the commands that a person in a browser does not have. Advice for the machine of
 * the platform keeps them. Null: nothing is left.
 */
export function withoutCommands(advice: string): string | null {
  const sentences = advice.split(/(?<=[.?!])\s+/u).map((sentence) => {
    if (sentence.startsWith('On the machine of the platform')) return sentence;
    // "Set it: svc server update NAME" has its command at the end.
    const said = sentence.replace(/: `?svc\s.*$/su, '.');
    return /\bsvc\s/u.test(said) ? '' : said;
  });
  return sentences.filter((sentence) => sentence !== '').join(' ') || null;
}
