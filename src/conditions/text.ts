/** Returns the number of characters of a text, counting those of two UTF-16 units once. */
export function countCodePoints(text: string): number {
  let count = text.length
  for (let at = 0; at < text.length - 1; at++) {
    if ((text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) count--
  }
  return count
}

/** Returns whether a text is empty or only white space. */
export const isBlank = (text: string) => text === '' || text.trim() === ''
