/** A foreign text on one line, so that its line breaks cannot imitate rows or messages of svc. */
export function oneLine(text: string): string {
  return text.replace(/\s*[\n\r\u2028\u2029]\s*/g, ' · ').replaceAll('\t', ' ');
}
