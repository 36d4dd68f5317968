import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { Closed, parser, Text, Type } from '../core/schema.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { type OwnCredential, publicRoute, type Route } from '../http/route.ts'
import { escapeHtml, mailPage, themed } from '../integrations/message/mail-theme.ts'
import { removeRecipient } from '../integrations/providers/email-digest/recipients.ts'
import { writeAuditEntry } from '../org/audit-log.ts'
import { findOrg } from '../org/store.ts'
import { type Db, tx } from '../store/database.ts'
import { subscribe, subscriptionOf } from './store.ts'

export const UNSUBSCRIBE_PATH = '/v1/notifications/digest/unsubscribe'

export interface UnsubscribeDeps {
  db: Db
  box: SecretBox
  clock: Clock
}

const ByToken = Closed({ t: Text(1, 2000, { description: 'The capability token from the link in a digest' }) })
const Page = Type.String({
  description: 'A page in HTML, complete without scripts',
  examples: ['<!doctype html>…'],
})

const CREDENTIAL: OwnCredential = {
  name: 'unsubscribeToken',
  scheme: { type: 'apiKey', in: 'query', name: 't', description: 'The capability token from the link in a digest' },
}

/** The page has one form, which leads back to it; its styles are in it. */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex',
}

/** Ends a digest with one click, without sign-in (RFC 8058): a mail program posts, a person reads a page and posts. */
export function unsubscribeRoutes({ db, box, clock }: UnsubscribeDeps): Route[] {
  const shared = {
    ...{ path: UNSUBSCRIBE_PATH, tag: 'Notifications', query: ByToken, answer: Page },
    credential: CREDENTIAL,
    ...{ refusals: ['unauthorized'] as const, produces: 'text/html; charset=utf-8', headers: () => HEADERS },
  }
  return [
    publicRoute({
      ...shared,
      id: 'showUnsubscribe',
      method: 'GET',
      summary: 'A page that asks if the digest is to end; changes nothing',
      handle({ query: { t } }) {
        const { orgId } = parseUnsubscribeToken(box, t)
        return askPage(findOrg(db, orgId)?.name ?? '')
      },
    }),
    publicRoute({
      ...shared,
      id: 'unsubscribe',
      method: 'POST',
      summary: 'End the digest that the token stands for, without sign-in; again changes nothing',
      description: 'One-click unsubscription as in RFC 8058: the body is not looked at.',
      handle({ query: { t }, origin }) {
        const leaving = parseUnsubscribeToken(box, t)
        tx(db, () => {
          if (unsubscribe(db, leaving)) audit(leaving, origin.address)
        })
        return donePage(findOrg(db, leaving.orgId)?.name ?? '')
      },
    }),
  ]

  function audit(leaving: Unsubscription, address: string | null): void {
    const isMember = 'userId' in leaving
    writeAuditEntry(db, clock, {
      ...{ orgId: leaving.orgId, act: 'unsubscribe', address },
      userId: isMember ? leaving.userId : null,
      target: isMember ? leaving.userId : leaving.integrationId,
    })
  }
}

const named = (orgName: string) => (orgName === '' ? '' : ` for ${escapeHtml(orgName)}`)

function askPage(orgName: string): string {
  const button = themed(
    'button',
    'border:0;border-radius:8px;padding:10px 20px;font:inherit;font-weight:600;cursor:pointer',
  )
  return page(
    'Unsubscribe?',
    `<p style="margin:0 0 16px">No digest${named(orgName)} will be sent to you any more.</p>
<form method="post"><button type="submit" ${button}>Unsubscribe</button></form>`,
  )
}

const donePage = (orgName: string) =>
  page(
    'Unsubscribed',
    `<p style="margin:0">You get no digest${named(orgName)} any more. In Tagwarden you can subscribe again at any time.</p>`,
  )

const page = (title: string, html: string) =>
  mailPage({
    ...{ title: `${title} - Tagwarden`, preview: '', below: '' },
    above: `<span ${themed('ink', 'font-weight:700;font-size:15px')}>Tagwarden</span>`,
    body: `<h1 style="margin:0 0 12px;font-size:20px;line-height:1.35">${escapeHtml(title)}</h1>\n${html}`,
  })

/** What a link in a digest ends: a member's subscription, or the place of an address in an integration. */
export type Unsubscription =
  | { kind: 'digest'; orgId: string; userId: string }
  | { kind: 'digest'; orgId: string; integrationId: string; address: string }

const kind = Type.Literal('digest')
const LeavingSchema = Type.Union([
  Closed({ kind, orgId: Text(1, 100), userId: Text(1, 100) }),
  Closed({ kind, orgId: Text(1, 100), integrationId: Text(1, 100), address: Text(1, 254) }),
])
const parse = parser(LeavingSchema)

/** The capability that stands in a digest: whoever has it can end this, and nothing else. It never expires. */
export function unsubscribeToken(box: SecretBox, leaving: Unsubscription): string {
  return box.seal(JSON.stringify(leaving)).toString('base64url')
}

/** Fails with `unauthorized` for a token that this data folder did not make. */
function parseUnsubscribeToken(box: SecretBox, token: string): Unsubscription {
  try {
    return parse(JSON.parse(box.open(Buffer.from(token, 'base64url'))))
  } catch {
    throw new AppError('unauthorized', 't: is no token of a digest')
  }
}

/** Ends it. False when it was ended before. */
function unsubscribe(db: Db, leaving: Unsubscription): boolean {
  if ('userId' in leaving) {
    return tx(db, () => subscriptionOf(db, leaving).subscribed && subscribe(db, leaving, { subscribed: false }))
  }
  const { orgId, integrationId: id, address } = leaving
  try {
    return removeRecipient(db, { orgId, id }, address)
  } catch (error) {
    if (error instanceof AppError && error.code === 'notFound') return false
    throw error
  }
}
