import { SECOND_MS } from '../core/clock.ts'
import { oneLine } from '../core/text.ts'
import type { MailOutbound, MailPicture, Reply } from './transport.ts'
import { trustedWith } from './trusted-certificates.ts'

interface MailTransportOptions {
  /**
   * `smtp://user:password@host:port` (STARTTLS if the server offers it) or `smtps://` (implicit TLS). Null or empty:
   * mail is not configured, and every e-mail fails permanently.
   */
  smtpUrl: string | null
  /**
   * Sender: `Tagwarden <tagwarden@example.com>`, or only the address. The domain of the address is used in message ids.
   */
  from: string
  timeoutMs?: number
  /** PEM certificates of additional trusted authorities. */
  ca?: string
}

/**
 * Time limit for sending. It is long because a server may scan an e-mail before it responds. Giving up early would send
 * the e-mail twice.
 */
const MAIL_TIMEOUT_MS = 60 * SECOND_MS

/** Loaded when it is first used, to keep startup fast. */
const library = () => import('nodemailer')

/**
 * Transport for e-mail through an SMTP server. An e-mail that is accepted for at least one recipient counts as sent,
 * because a retry would send a second copy to that recipient. The reply states how many recipients were refused. 5xx
 * rejections are permanent (RFC 5321, section 4.2.1). 4xx rejections and lost connections are not.
 * @throws Error if the URL is not an SMTP URL. The message does not contain the URL.
 */
export function mailTransport({ smtpUrl, from, timeoutMs = MAIL_TIMEOUT_MS, ca }: MailTransportOptions) {
  if (!smtpUrl) return async (): Promise<Reply> => failure('no mail server is configured (TAGWARDEN_SMTP_URL)', true)
  const url = URL.parse(smtpUrl)
  if (!url || !/^smtps?:$/.test(url.protocol) || url.hostname === '') {
    throw new Error('TAGWARDEN_SMTP_URL: must be smtp://[user:password@]host:port or smtps://[user:password@]host:port')
  }
  const domain = /@([^\s<>@]+)>?\s*$/.exec(from)?.[1] ?? 'localhost'
  const tls = ca ? { tls: { ca: trustedWith(ca) } } : {}

  return async function sendMail(outbound: MailOutbound, signal: AbortSignal): Promise<Reply> {
    const { to, subject, text, html, messageId, threadId, pictures = [], headers = {} } = outbound
    const timeout = AbortSignal.timeout(timeoutMs)
    try {
      const { createTransport } = await library()
      const { accepted, rejected } = await createTransport({ url: smtpUrl, ...tls }).sendMail({
        from,
        to: to.map((address) => ({ name: '', address })),
        subject,
        text,
        html,
        messageId: `<${messageId}@${domain}>`,
        ...(threadId === null ? {} : { references: `<${threadId}@${domain}>` }),
        // Suppresses out-of-office replies (RFC 3834, section 5).
        headers: { ...headers, 'Auto-Submitted': 'auto-generated' },
        attachments: pictures.map(attachmentOf),
        disableFileAccess: true,
        disableUrlAccess: true,
        signal: AbortSignal.any([signal, timeout]),
      })
      const all = rejected.length + accepted.length
      const body = rejected.length === 0 ? '' : `${rejected.length} of ${all} addresses rejected`
      return { kind: 'status', status: 250, headers: {}, body }
    } catch (error) {
      if (timeout.aborted) {
        return { ...failure(`the mail server did not respond within ${timeoutMs / 1000} s`), hung: true }
      }
      if (signal.aborted) return failure('stopped before a response was received')
      return refusalOf(error)
    }
  }
}

/** Response of a mail server that accepted a connection and, if the URL has a user, the sign-in. */
export interface MailServerAnswer {
  kind: 'accepted'
  /** Time that the server states in its greeting, as Sendmail and Exchange do, minus this clock; null if it states none. */
  clockOffsetMs: number | null
}

/**
 * Connects to the mail server and signs in, without sending an e-mail.
 * @param now returns the current time in ms
 */
export async function probeMailServer(
  { smtpUrl, ca, timeoutMs }: { smtpUrl: string; ca: string; timeoutMs: number },
  now: () => number,
): Promise<MailServerAnswer | { kind: 'error'; message: string }> {
  const { createTransport } = await library()
  let clockOffsetMs: number | null = null
  const line = (_: unknown, text: unknown) => {
    const statedAt = greetingTime(String(text))
    clockOffsetMs ??= statedAt === null ? null : statedAt - now()
  }
  const ignore = () => undefined
  const logger = { level: ignore, trace: ignore, debug: line, info: ignore, warn: ignore, error: ignore, fatal: ignore }
  const tls = ca ? { tls: { ca: trustedWith(ca) } } : {}
  const limits = { connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, socketTimeout: timeoutMs }
  const transporter = createTransport({ url: smtpUrl, ...tls, ...limits, logger, transactionLog: true })
  try {
    await transporter.verify()
    return { kind: 'accepted', clockOffsetMs }
  } catch (error) {
    const reply = refusalOf(error)
    return { kind: 'error', message: reply.kind === 'error' ? reply.message : '' }
  } finally {
    transporter.close()
  }
}

/** `220 mail.example.com ESMTP Sendmail 8.17; Sat, 28 Nov 2026 15:35:36 GMT`: RFC 5321 permits any text in a greeting. */
const GREETING_TIME =
  /^220[ -].*?((?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{1,2} \w{3} \d{4} \d\d:\d\d:\d\d (?:GMT|UTC|[+-]\d{4}))/

/** Returns the time in a mail server's greeting; null for other lines and greetings without one. */
function greetingTime(line: string): number | null {
  const at = Date.parse(GREETING_TIME.exec(line)?.[1] ?? '')
  return Number.isNaN(at) ? null : at
}

/** Inline image that is not listed as an attachment. */
const attachmentOf = ({ id, name, png }: MailPicture) => ({
  cid: id,
  filename: name,
  content: Buffer.from(png),
  contentType: 'image/png',
  contentDisposition: 'inline' as const,
})

const failure = (message: string, permanent = false) => ({ kind: 'error', message, permanent }) as const

/**
 * Converts a failed submission to a reply. Responses to a sign-in are omitted because some servers echo credentials.
 */
function refusalOf(error: unknown): Reply {
  const facts = (error instanceof Error ? error : {}) as { code?: unknown; responseCode?: unknown; response?: unknown }
  const status = typeof facts.responseCode === 'number' ? facts.responseCode : null
  const permanent = status !== null && status >= 500
  if (facts.code === 'EAUTH')
    return failure(`the mail server rejected the sign-in: ${status ?? 'no reason given'}`, permanent)
  if (status !== null)
    return failure(
      `the mail server rejected the message: ${withoutAddresses(String(facts.response ?? status))}`,
      permanent,
    )
  // There is no valid recipient or sender. A retry would not change that.
  if (facts.code === 'EENVELOPE') return failure('no valid recipient', true)
  return failure(`the mail server cannot be reached: ${typeof facts.code === 'string' ? facts.code : 'unknown error'}`)
}

/**
 * Removes e-mail addresses. Server responses can contain recipients' addresses, which readers of the log may not be
 * allowed to see.
 */
function withoutAddresses(text: string): string {
  return oneLine(text.replace(/[^\s<>,;:]+@[^\s<>,;:]+/g, '…'), 200)
}
