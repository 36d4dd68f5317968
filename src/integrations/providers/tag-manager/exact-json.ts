/**
 * Reads JSON so that it is written again as it came, numbers too: those that JavaScript would write differently stay texts
 * of the source. Fails with `SyntaxError`.
 */
export function readExactly(text: string): unknown {
  return JSON.parse(text, (_key: string, value: unknown, context?: { source?: string }) => {
    const source = context?.source
    const isOther = typeof value === 'number' && source !== undefined && String(value) !== source
    return isOther ? rawJson(source) : value
  })
}

const rawJson = (source: string): unknown => (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(source)
