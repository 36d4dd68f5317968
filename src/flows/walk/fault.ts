import { TooLate } from '../../browser/waiting.ts'
import { messageOf } from '../../core/error.ts'
import { cutText } from '../../core/text.ts'

const MAX_SENTENCE = 500

/** Why a step failed: one sentence without its full stop, which a person reads. */
export class StepFault extends Error {}

/** What the errors of Chromium's network mean; `host` stands for the host of the address. */
const NETWORK: readonly [error: RegExp, sentence: string][] = [
  [/ERR_NAME_NOT_RESOLVED|ERR_NAME_RESOLUTION_FAILED/, 'no address is known for the name host'],
  [/ERR_CONNECTION_REFUSED/, 'nothing answers at host'],
  [/ERR_CONNECTION_TIMED_OUT|ERR_TIMED_OUT/, 'host did not answer in time'],
  [/ERR_CERT_DATE_INVALID/, 'the certificate of host has expired, or is not valid yet'],
  [/ERR_CERT_COMMON_NAME_INVALID/, 'the certificate of host is for another name'],
  [/ERR_CERT_\w+/, 'the certificate of host is not trusted'],
  [/ERR_SSL_\w+/, 'no safe connection to host could be made'],
  [/ERR_TOO_MANY_REDIRECTS/, 'the redirects of host go round in a circle'],
  [/ERR_ABORTED/, 'host answered with a download, or with nothing, and not with a page'],
  [/ERR_EMPTY_RESPONSE|ERR_CONNECTION_(?:RESET|CLOSED)/, 'host ended the connection without an answer'],
  [/ERR_TUNNEL_CONNECTION_FAILED|ERR_PROXY_CONNECTION_FAILED/, 'host cannot be reached'],
  [/ERR_\w+/, 'host could not be opened'],
]

/** Returns an error of a navigation as a sentence that names the host; Chromium's own word for it follows in brackets. */
export function navigationSentence(error: unknown, url: string): string {
  const message = messageOf(error)
  const known = NETWORK.find(([pattern]) => pattern.test(message))
  if (!known) return sentenceOf(error)
  const host = URL.canParse(url) ? new URL(url).host : url
  const [word] = known[0].exec(message) ?? []
  return `${known[1].replace('host', host)} (${/ERR_\w+/.exec(message)?.[0] ?? word})`
}

/** Whether a page could not be opened only because it answered 400 or more, without a body. */
export const isEmptyError = (error: unknown): boolean => /ERR_HTTP_RESPONSE_CODE_FAILURE/.test(messageOf(error))

/** Returns any error of a step as a sentence. */
export function sentenceOf(error: unknown): string {
  if (error instanceof StepFault) return error.message
  if (error instanceof TooLate) return `it took longer than ${secondsText(error.limitMs)}; the page may hang`
  const message = messageOf(error)
  if (/Target closed|Session closed|TargetCloseError|Page crashed/i.test(message))
    return 'the tab was closed or crashed'
  return cutText(message.replaceAll(/\s+/g, ' ').replace(/\.$/, ''), MAX_SENTENCE, '…')
}

/** `5 s`, `0.5 s` */
export const secondsText = (ms: number): string => `${Number((ms / 1000).toFixed(1))} s`

/** Whether the error says that the page went on to another document, or its frame went, in the middle of a question. */
export function isGone(error: unknown): boolean {
  return /context was destroyed|detached|Cannot find context|not attached|does not belong to the document|No node with given id|JSHandle is disposed|Inspected target navigated|Node is detached|uniqueContextId not found|Could not find object|not found for given/i.test(
    messageOf(error),
  )
}
