import { PAGE_PATHS } from '../contract/page-paths.ts'
import type { Clock, Instant } from '../core/clock.ts'
import { oneLine, timeText } from '../core/text.ts'
import type { Origin } from '../http/client-info.ts'
import { type MailDocument, NO_EXTRAS } from '../mail/mail-document.ts'
import type { Db } from '../store/database.ts'
import { findUser } from './store.ts'

/** A change of a user's second factor, or the use of a recovery code. */
export type SecurityEvent =
  | { kind: 'secondFactorEnabled' | 'secondFactorRemoved' | 'recoveryCodesReplaced' }
  | {
      kind: 'recoveryCodeUsed'
      /** Number of unused recovery codes. */
      codesLeft: number
    }

/** A security event, and what its e-mail says about it. */
export interface SecurityNotice {
  /** E-mail address of the user. */
  to: string
  event: SecurityEvent
  at: Instant
  /** The request that caused it; null for a command of the server's operator. */
  origin: Origin | null
}

/** Adds the e-mail about a security event to the outbox, in the caller's transaction. */
export type QueueSecurityMail = (notice: SecurityNotice) => void

export interface SecurityMailDeps {
  db: Db
  clock: Clock
  /** Null when no mail server is configured. */
  queueSecurityMail: QueueSecurityMail | null
}

/**
 * Notifies a user of a security event by e-mail, in the caller's transaction. Does nothing without a mail server.
 *
 * @param origin the request that caused it; null for a command of the server's operator
 */
export function notifyOfSecurityEvent(
  { db, clock, queueSecurityMail }: SecurityMailDeps,
  userId: string,
  event: SecurityEvent,
  origin: Origin | null,
): void {
  const user = queueSecurityMail && findUser(db, userId)
  if (user) queueSecurityMail({ to: user.email, event, at: clock.now(), origin })
}

export interface SecurityMailOptions {
  /** Public URL of the server, without a trailing slash. */
  publicUrl: string
  /** Returns a name such as `Firefox 146, Windows` for a `user-agent`; null when it names no known browser. */
  browserOf(userAgent: string): string | null
}

const MAX_BROWSER_LENGTH = 100

/** Writes the e-mail about a security event. */
export function securityMail(
  { to, event, at, origin }: SecurityNotice,
  { publicUrl, browserOf }: SecurityMailOptions,
): MailDocument {
  const { subject, what, otherwise } = textOf(event, origin === null)
  const agent = origin?.userAgent ?? null
  const facts =
    origin === null
      ? ['Changed by: the operator of this server, with a command']
      : [
          `IP address: ${origin.address ?? 'unknown'}`,
          `Browser: ${agent === null ? 'unknown' : oneLine(browserOf(agent) ?? agent, MAX_BROWSER_LENGTH)}`,
        ]
  const blocks = [`Time: ${timeText(at)}`, ...facts].map((text) => ({ kind: 'text', text }) as const)
  return {
    ...NO_EXTRAS,
    subject: `Tagwarden: ${subject}`,
    headline: what,
    sections: [
      { title: '', blocks },
      {
        title: origin === null ? 'If you did not ask for this' : 'If this was not you',
        blocks: [{ kind: 'text', text: otherwise }],
      },
    ],
    button: { text: 'Open preferences', url: publicUrl + PAGE_PATHS.settings.preferences },
    notes: [`You receive this e-mail because ${to} is the address of your account in Tagwarden.`],
  }
}

interface SecurityText {
  subject: string
  what: string
  /** Advice for a user who did not cause it. */
  otherwise: string
}

function textOf(event: SecurityEvent, isByOperator: boolean): SecurityText {
  switch (event.kind) {
    case 'secondFactorEnabled':
      return {
        subject: 'second factor enabled',
        what: 'A second factor was enabled for your account. Signing in now requires a code from an authenticator app.',
        otherwise:
          'Someone else has access to your account. Ask the operator of this server to set a new password and to remove ' +
          'the second factor.',
      }
    case 'secondFactorRemoved':
      return {
        subject: 'second factor removed',
        what: 'The second factor of your account was removed. Your password alone is now enough to sign in.',
        otherwise: isByOperator
          ? 'Ask the operator of this server about it. You can set up a second factor again in your preferences.'
          : 'Change your password, which ends all other sessions, and set up a second factor again.',
      }
    case 'recoveryCodesReplaced':
      return {
        subject: 'new recovery codes',
        what: 'New recovery codes were created for your account. The earlier ones no longer work.',
        otherwise: 'Change your password, which ends all other sessions, and create new recovery codes.',
      }
    case 'recoveryCodeUsed':
      return {
        subject: 'recovery code used',
        what: `A recovery code was used to sign in to your account. ${leftText(event.codesLeft)}`,
        otherwise: 'Change your password, which ends all other sessions, and create new recovery codes.',
      }
  }
}

function leftText(count: number): string {
  if (count === 0) return 'No recovery code is left. Create new ones in your preferences.'
  return count === 1 ? '1 recovery code is left.' : `${count} recovery codes are left.`
}
