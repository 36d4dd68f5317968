/**
 * Maximum nesting depth; more than any SDK uses. Parsing 1 MiB of brackets takes half a second, and a small compressed
 * body can contain many.
 */
const MAX_NESTING = 1000
/** Texts shorter than this are parsed without checking their depth. */
const SHORT_LENGTH = 10_000

const [QUOTE, BACKSLASH, LIST, OBJECT, LIST_END, OBJECT_END] = [...'"\\[{]}'].map((one) => one.charCodeAt(0))

/** True for a long JSON text whose nesting is too deep for it to be parsed. */
function isTooDeep(text: string): boolean {
  if (text.length < SHORT_LENGTH) return false
  let depth = 0
  let inText = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === BACKSLASH) at++
    else if (code === QUOTE) inText = !inText
    else if (inText) continue
    else if (code === LIST || code === OBJECT) {
      if (++depth > MAX_NESTING) return true
    } else if (code === LIST_END || code === OBJECT_END) depth--
  }
  return false
}

/** Parses JSON. Throws a `SyntaxError` if the text is not JSON, or if it is long and has more than 1,000 levels. */
export function parseBoundedJson(text: string): unknown {
  if (isTooDeep(text)) throw new SyntaxError('nested too deeply')
  return JSON.parse(text)
}
