/** Returns the number of Unicode code points in a string. A surrogate pair counts as one. */
export function countCodePoints(text: string): number {
  let count = text.length
  for (let at = 0; at < text.length - 1; at++) {
    if ((text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) count--
  }
  return count
}

/** Returns whether a string is empty or consists of white space only. */
export const isBlank = (text: string) => text === '' || text.trim() === ''
