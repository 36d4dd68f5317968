/** Text that replaces a credential in a longer string. */
const HIDDEN = '***'

/**
 * Words that make a `token` that follows them a credential. Several vendors call their public project id `token`, so
 * the word alone is not enough.
 */
const TOKENS =
  'access|auth|bearer|csrf|id|login|oauth|private|refresh|reset|secret|security|server|service|session|user'
/** Words that make a `key` that follows them a credential. */
const KEYS = 'access|account|api|app|auth|client|consumer|encryption|master|private|secret|server|signing|subscription'

/** Names of parameters, headers and fields that contain credentials. A longer name may end with one of them. */
const NAMES = [
  `(?:${TOKENS})[_-]?token`,
  'token[_-]?(?:auth|secret)',
  'authorization',
  'appsecret[_-]?proof',
  'client[_-]?assertion',
  'passw(?:or)?d',
  'passphrase',
  'passcode',
  'secret',
  `(?:${KEYS})[_-]?key(?:[_-]?id)?`,
  'credentials?',
  '(?:amz|goog)[_-](?:signature|credential)',
].join('|')
/** Names that indicate credentials only if they are the whole name, because harmless names end in the same letters. */
const WHOLE_NAMES = 'api[_-]?token|auth|bearer|jwt|pwd|set-cookie|headers?[^A-Za-z]+cookie'

const KEY = new RegExp(`(?:${NAMES}|(?:^|[^A-Za-z_-])(?:${WHOLE_NAMES}))(?=$|[^A-Za-z_-])`, 'i')

/** Values that only indicate whether a credential exists. */
const FLAG = /^(?:true|false|null|undefined|0|1)?$/i

const NAME = `(?:${NAMES}|(?<![A-Za-z_-])(?:${WHOLE_NAMES}))`
/** Up to four rounds of percent-encoding. */
const PERCENT = '%(?:25){0,3}'
const JSON_COLON = String.raw`[\s+]{0,8}:[\s+]{0,8}`

/** The separator after a name and the credential, for each notation. */
const NOTATIONS = [
  // Parameters of URLs and forms, plain and percent-encoded.
  ['=', String.raw`[^\s&;#"'\\]+`],
  [`${PERCENT}3D`, String.raw`(?:[^\s&;#"'\\%]|${PERCENT}(?!25|2[2367]|3B)[0-9A-F]{2})+`],
  // Members of JSON objects: plain, escaped within other JSON, and percent-encoded.
  [`"${JSON_COLON}"`, String.raw`(?:[^"\\]|\\.)+`],
  [String.raw`\\{1,8}"${JSON_COLON}\\{1,8}"`, String.raw`[^"\\]+`],
  [`${PERCENT}22[\\s+]{0,8}(?::|${PERCENT}3A)[\\s+]{0,8}${PERCENT}22`, `(?:[^%&"]|${PERCENT}(?!25|22)[0-9A-F]{2})+`],
  // Fields of a multipart form.
  [String.raw`"(?:\r?\n[^\r\n]{1,200}){0,4}\r?\n\r?\n`, String.raw`[^\r\n]+`],
].map(([between, credential]) => new RegExp(`(${NAME}${between})(${credential})`, 'gi'))

/** JSON numbers. Unlike strings, they need quotes when they are replaced with asterisks. */
const JSON_NUMBER = new RegExp(`(${NAME}"${JSON_COLON})-?[0-9][0-9.]+`, 'gi')

/** Every name contains one of these words. This test is much faster than the full pattern, so it runs first. */
const MENTION =
  /token|secret|passw|passphrase|passcode|key|auth|credential|signature|proof|assertion|bearer|jwt|pwd|cookie/i
/** Every notation contains one of these characters. */
const NOTATION = /[="%]/
/** Shorter strings can't contain both a name and a credential. */
const SHORTEST = 'pwd=1234'.length

/**
 * Cached results by key. The same keys occur in many events, and a lookup takes a fraction of the time that the pattern
 * takes.
 */
const cache = new Map<string, boolean>()
const MAX_CACHED = 20_000

/** Returns whether values with this key are credentials. A key may be a path: `headers.X-Api-Key`, `cd[password]`. */
export function isCredentialKey(key: string): boolean {
  const found = cache.get(key)
  if (found !== undefined) return found
  const isCredential = KEY.test(key)
  if (cache.size >= MAX_CACHED) cache.clear()
  cache.set(key, isCredential)
  return isCredential
}

/** Returns whether the key identifies the value as a credential: access token, API key, secret or password. */
export function isCredential(key: string, value: string): boolean {
  return isCredentialKey(key) && !FLAG.test(value)
}

/**
 * Replaces named credentials in a string with `***`: parameters of URLs or forms, and members of JSON objects. Returns
 * the same string if it contains none, which is the usual case.
 */
export function hideCredentials(text: string): string {
  if (text.length < SHORTEST || !NOTATION.test(text) || !MENTION.test(text)) return text
  return hideInJson(text) ?? hideInNotations(text)
}

function hideInNotations(text: string): string {
  let shown = text
  for (const notation of NOTATIONS) {
    shown = shown.replace(notation, (whole, before: string, credential: string) =>
      FLAG.test(credential) ? whole : before + HIDDEN,
    )
  }
  return shown.replace(JSON_NUMBER, `$1"${HIDDEN}"`)
}

/** Returns null if the string is not a JSON object or list. */
function hideInJson(text: string): string | null {
  if (!/^\s*[[{]/.test(text)) return null
  let hasHidden = false
  const replace = (value: unknown) => {
    hasHidden = true
    return value
  }
  try {
    const shown = JSON.stringify(JSON.parse(text), function (this: unknown, key: string, value: unknown) {
      const isNested = typeof value === 'object' && value !== null
      const isHidden = isNested ? isCredentialKey(key) : isCredential(key, String(value))
      if (isHidden || (key === 'value' && isCredentialPair(this))) return replace(HIDDEN)
      if (typeof value !== 'string') return value
      const inner = hideCredentials(value)
      return inner === value ? value : replace(inner)
    })
    return hasHidden ? shown : text
  } catch (error) {
    // The JSON is invalid or nested too deeply.
    if (error instanceof SyntaxError || error instanceof RangeError) return null
    throw error
  }
}

/**
 * Returns whether the value is a pair such as `{name: "Authorization", value: …}`, as found in lists of headers and
 * parameters.
 */
export function isCredentialPair(pair: unknown): boolean {
  const { name, key, value } = pair as Record<string, unknown>
  const named = name ?? key
  return typeof named === 'string' && value !== undefined && isCredential(named, String(value))
}
