/** What Chromium says of loads that failed, in words. */
const WORDS: readonly [pattern: RegExp, words: string][] = [
  [/ERR_NAME_NOT_RESOLVED/, 'its host is not known'],
  [/ERR_TOO_MANY_REDIRECTS/, 'it redirects in a circle'],
  [/ERR_CERT_\w+|ERR_SSL_\w+/, 'its certificate is not valid'],
  [/ERR_CONNECTION_REFUSED/, 'its host refused the connection'],
  [/ERR_CONNECTION_\w+|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE_CHUNKED_ENCODING/, 'the connection broke'],
  [/ERR_TUNNEL_CONNECTION_FAILED|ERR_PROXY_\w+/, 'its host could not be reached'],
  [/ERR_BLOCKED_\w+/, 'the browser refused it'],
  [/timeout/i, 'it did not answer within 20 s'],
]

/**
 * Returns why a page could not be loaded, without a full stop; null when it could. One that answered and never ended to load
 * could, unless its scripts never end either.
 */
export function loadFault(load: {
  /** What the browser says; null: nothing. */
  failed: string | null
  /** What the guard says, or the network. */
  refused: string | null
  hangs: boolean
  /** Whether there was an answer. */
  isThere: boolean
}): string | null {
  const { failed, refused, hangs, isThere } = load
  if (hangs) return 'its scripts never end'
  if (refused !== null && (failed !== null || !isThere)) return refused
  if (failed === null || (isThere && /timeout|ERR_ABORTED/i.test(failed))) return null
  const code = /net::(ERR_\w+)/.exec(failed)?.[1]
  const words = WORDS.find(([pattern]) => pattern.test(failed))?.[1] ?? 'it could not be loaded'
  return code === undefined ? words : `${words} (${code})`
}
