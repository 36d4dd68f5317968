import { TimeLimitExceeded } from '../../browser/time-limit.ts'
import { messageOf } from '../../core/error.ts'
import { cutText } from '../../core/text.ts'

const MAX_SENTENCE = 500

/** Thrown with the reason why a step failed, as one readable sentence without a full stop. */
export class StepFault extends Error {}

/** Descriptions of Chromium's network errors. `host` is replaced by the host of the URL. */
const NETWORK: readonly [error: RegExp, sentence: string][] = [
  [/ERR_NAME_NOT_RESOLVED|ERR_NAME_RESOLUTION_FAILED/, 'the name host could not be resolved'],
  [/ERR_CONNECTION_REFUSED/, 'host refused the connection'],
  [/ERR_CONNECTION_TIMED_OUT|ERR_TIMED_OUT/, 'host did not respond in time'],
  [/ERR_CERT_DATE_INVALID/, 'the certificate of host has expired or is not valid yet'],
  [/ERR_CERT_COMMON_NAME_INVALID/, 'the certificate of host is for another name'],
  [/ERR_CERT_\w+/, 'the certificate of host is not trusted'],
  [/ERR_SSL_\w+/, 'no secure connection to host could be established'],
  [/ERR_TOO_MANY_REDIRECTS/, 'host redirects in a loop'],
  [/ERR_ABORTED/, 'host responded with a download or an empty response instead of a page'],
  [/ERR_EMPTY_RESPONSE|ERR_CONNECTION_(?:RESET|CLOSED)/, 'host closed the connection without a response'],
  [/ERR_TUNNEL_CONNECTION_FAILED|ERR_PROXY_CONNECTION_FAILED/, 'host cannot be reached'],
  [/ERR_\w+/, 'host could not be opened'],
]

/** Describes a navigation error in a sentence that names the host, followed by Chromium's own error in brackets. */
export function navigationSentence(error: unknown, url: string): string {
  const message = messageOf(error)
  const known = NETWORK.find(([pattern]) => pattern.test(message))
  if (!known) return sentenceOf(error)
  const host = URL.canParse(url) ? new URL(url).host : url
  const [word] = known[0].exec(message) ?? []
  return `${known[1].replace('host', host)} (${/ERR_\w+/.exec(message)?.[0] ?? word})`
}

/** Returns whether a page failed to open only because the response had status 400 or above and no body. */
export const isEmptyError = (error: unknown): boolean => /ERR_HTTP_RESPONSE_CODE_FAILURE/.test(messageOf(error))

/** Describes any error of a step in a sentence. */
export function sentenceOf(error: unknown): string {
  if (error instanceof StepFault) return error.message
  if (error instanceof TimeLimitExceeded)
    return `it took longer than ${secondsText(error.limitMs)}; the page may be unresponsive`
  const message = messageOf(error)
  if (/Target closed|Session closed|TargetCloseError|Page crashed/i.test(message))
    return 'the tab was closed or crashed'
  return cutText(message.replaceAll(/\s+/g, ' ').replace(/\.$/, ''), MAX_SENTENCE, '…')
}

/** Formats a duration in seconds: `5 s`, `0.5 s` */
export const secondsText = (ms: number): string => `${Number((ms / 1000).toFixed(1))} s`

/**
 * Returns whether the error means that, during a call, the page navigated to another document or the frame was removed.
 */
export function isGone(error: unknown): boolean {
  return /context was destroyed|detached|Cannot find context|not attached|does not belong to the document|No node with given id|JSHandle is disposed|Inspected target navigated|Node is detached|uniqueContextId not found|Could not find object|not found for given/i.test(
    messageOf(error),
  )
}
