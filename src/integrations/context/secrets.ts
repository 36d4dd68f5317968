/**
 * Returns a function that replaces secrets by `…` in a text: every text of at least 8 characters within `values`, however deep,
 * what alone would do of a URL among them, and whatever stands in a header `Authorization`. Others repeat what they were sent.
 */
export function scrubber(values: unknown): (text: string) => string {
  const whole = textsIn(values)
  // The longest first: a secret may begin with another one.
  const secrets = [...whole, ...whole.flatMap(partsOfUrl)].sort((a, b) => b.length - a.length).flatMap(spellings)
  return (text) => secrets.reduce((rest, secret) => rest.replaceAll(secret, '…'), text).replace(CREDENTIALS, '$1 …')
}

/** As others may repeat a secret: as it is, inside JSON, and inside a URL. */
const spellings = (secret: string) => [
  ...new Set([secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]),
]

/** What stands in a header `Authorization`, whoever's it is. */
const CREDENTIALS = /\b(Basic|Bearer) [\w.~+/=-]{8,}/gi

/** Shorter texts are no secrets, and would tear words apart. */
const SHORTEST_SECRET = 8

/** What alone would do of a URL that is a secret: others repeat the path and the query that they were asked for. */
function partsOfUrl(secret: string): string[] {
  const url = URL.parse(secret)
  if (!url || !/^https?:$/.test(url.protocol)) return []
  const parts = [
    ...url.pathname.split('/'),
    ...url.search
      .slice(1)
      .split('&')
      .map((pair) => pair.slice(pair.indexOf('=') + 1)),
  ]
  const long = parts.filter((part) => part.length >= SHORTEST_PART)
  return [...long, ...long.map(decoded)]
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** Shorter ones are words: `workflows`, `services`. */
const SHORTEST_PART = 16

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return value.length < SHORTEST_SECRET ? [] : [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}
